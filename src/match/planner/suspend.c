/* suspend.c - suspends reservations while those before them are planned again
 *
 *     booking_suspend            the reservation counts at no time: its own time is kept
 *                                elsewhere, and its start and end are such that it
 *                                overlaps no window
 *     booking_resume             the reservation counts again
 *     booking_unlist_suspended   removes its claims from the lists of their vertices:
 *                                only worthwhile before matches, as each claim is far
 *                                away in memory
 *
 * A booking made meanwhile ignores suspended reservations. Such bookings are "fresh", and
 * a reservation that resumes checks whether a fresh one has its units.
 */
#include <utlist.h>

#include "match/planner/bookings.h"
#include "match/planner/sums.h"
#include "match/planner/suspend.h"
#include "match/planner/window_nodes.h"

#define UNLIST_MAX 32 /* per match */

/* -- fresh ones -- */

static void forget_fresh (struct planner *p)
{
    struct booking *b, *next;

    DL_FOREACH_SAFE2 (p->fresh, b, next, fresh_next)
    {
        b->fresh = false;
    }
    p->fresh = NULL;
    p->sums_changed = false;
}

/* True if a fresh booking has something on its nodes, at its time. */
static bool booking_meets_fresh (struct planner *p, struct booking *b)
{
    int64_t start = booking_start (b), end = booking_end (b);
    struct booking *o;

    DL_FOREACH2 (p->fresh, o, fresh_next)
    {
        if (o != b && o->start < end && o->end > start && bookings_share_node (p, o, b))
            return true;
    }
    return false;
}

bool booking_is_taken (struct planner *p, struct booking *b)
{
    struct window w = { .at = booking_start (b), .end = booking_end (b) };

    return booking_meets_fresh (p, b) && booking_check (p, b, &w, "taken by", NULL) < 0;
}

/* -- suspending and resuming -- */

void suspend_end (struct planner *p, struct booking *b)
{
    p->nsuspended--;
    if (!b->unlisted)
        DL_DELETE2 (p->suspended, b, suspended_prev, suspended_next);
}

void booking_suspend (struct planner *p, struct booking *b)
{
    if (b->suspended)
        return;
    sums_unbook (p, b);
    if (p->nsuspended++ == 0)
        forget_fresh (p);
    b->suspended = true;
    DL_PREPEND2 (p->suspended, b, suspended_prev, suspended_next);
    b->own_start = b->start;
    b->own_end = b->end;
    b->start = INT64_MAX; /* overlaps no window */
    b->end = INT64_MIN;
    p->shown++;
    p->changes++;
}

/* Removes suspended claims from the lists of vertices, which the next matches search.
 * nclaims of the vertices stays, so that no vertex is removed. The first ones to resume
 * stay longest. */
void booking_unlist_suspended (struct planner *p)
{
    for (int n = 0; p->suspended && n < UNLIST_MAX; n++) {
        struct booking *b = p->suspended->suspended_prev; /* the last */
        DL_DELETE2 (p->suspended, b, suspended_prev, suspended_next);
        DL_DELETE (p->reserved, b);
        b->unlisted = true;
        CLAIMS_OF_JOB (p, b, c)
        {
            claims_unlist (p, &p->claims[c]);
        }
    }
}

static void list_again (struct planner *p, struct booking *b)
{
    b->unlisted = false;
    DL_APPEND (p->reserved, b);
    CLAIMS_OF_JOB (p, b, c)
    {
        claims_list (p, c);
    }
}

/* The sums of a reservation stay valid while no booking was made that ignored it: a
 * booking that shares a node with others counts the node only if none of them does. */
void booking_resume (struct planner *p, struct booking *b)
{
    if (!b->suspended)
        return;
    b->suspended = false;
    suspend_end (p, b);
    if (b->unlisted)
        list_again (p, b);
    b->start = b->own_start;
    b->end = b->own_end;
    if (p->sums_changed || booking_meets_fresh (p, b))
        sums_book (p, b);
    else
        sums_enter (p, b);
    p->changes++;
}
