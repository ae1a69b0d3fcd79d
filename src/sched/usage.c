/* usage.c - decayed core-seconds of users, computed lazily, and their factor of fair
 * share; see usage.h */
#include "sched/usage.h"

#include <math.h>

/* A failed HASH_ADD leaves hh.tbl NULL instead of ending the program. */
#define HASH_NONFATAL_OOM 1
#include <uthash.h>

#include "common/macros.h"

#define IDLE 1.0 /* core-seconds; a user with less, and nothing else, may be dropped */

/* Account of one user, or of all. */
struct account {
    double past, run; /* core-seconds of ended and of running jobs at time `at` */
    double cores;     /* held: `run` grows by this each second */
    double at;
};

struct user {
    uint32_t uid;
    char *name; /* or NULL */
    struct account own;
    uint64_t named; /* the last round in which the user was named */
    uint64_t looked;
    double factor; /* of the round `looked` */
    UT_hash_handle hh;
};

struct usage {
    double half_life;
    struct account all;
    struct user *users;
    uint64_t round; /* from 1 */
};

struct usage *usage_create (double half_life)
{
    struct usage *u = calloc (1, sizeof (*u));
    if (u) {
        u->half_life = half_life;
        u->round = 1;
    }
    return u;
}

static void user_free (struct usage *u, struct user *user)
{
    HASH_DEL (u->users, user);
    free (user->name);
    free (user);
}

void usage_destroy (struct usage *u)
{
    struct user *user, *next;

    if (!u)
        return;
    HASH_ITER (hh, u->users, user, next)
        user_free (u, user);
    free (u);
}

static struct user *user_find (const struct usage *u, uint32_t uid)
{
    struct user *user;
    HASH_FIND (hh, u->users, &uid, sizeof (uid), user);
    return user;
}

static struct user *user_get (struct usage *u, uint32_t uid)
{
    struct user *user = user_find (u, uid);

    if (!user) {
        if (!(user = calloc (1, sizeof (*user))))
            return NULL;
        user->uid = uid;
        HASH_ADD (hh, u->users, uid, sizeof (user->uid), user);
        if (!user->hh.tbl) {
            free (user);
            return NULL;
        }
    }
    user->named = u->round;
    return user;
}

/* -- decay -- */

static double decay (const struct usage *u, double seconds)
{
    return u->half_life > 0 && seconds > 0 ? exp2 (-seconds / u->half_life) : 1;
}

/* Usage at the end of one core that was held for so long. */
static double accrual (const struct usage *u, double seconds)
{
    if (seconds <= 0)
        return 0;
    double rate = u->half_life > 0 ? M_LN2 / u->half_life : 0;
    return rate > 0 ? -expm1 (-rate * seconds) / rate : seconds;
}

static struct account account_at (const struct usage *u, const struct account *a,
                                  double now)
{
    struct account later = *a;

    if (now > a->at) {
        double left = decay (u, now - a->at);
        later.past = a->past * left;
        later.run = a->run * left + a->cores * accrual (u, now - a->at);
        later.at = now;
    }
    return later;
}

static void settle (struct usage *u, struct account *a, double now)
{
    *a = account_at (u, a, now);
}

void usage_set_half_life (struct usage *u, double half_life, double now)
{
    struct user *user, *next;

    HASH_ITER (hh, u->users, user, next)
        settle (u, &user->own, now);
    settle (u, &u->all, now);
    u->half_life = half_life;
}

/* -- updates -- */

int usage_name (struct usage *u, uint32_t uid, const char *name)
{
    struct user *user = user_get (u, uid);

    if (!user)
        return -ENOMEM;
    if (!name || (user->name && strcmp (user->name, name) == 0))
        return 0;
    char *copy = strdup (name);
    if (!copy)
        return -ENOMEM;
    free (user->name);
    user->name = copy;
    return 0;
}

int usage_begin (struct usage *u, uint32_t uid, int64_t cores, double since, double now)
{
    struct user *user = user_get (u, uid);

    if (!user)
        return -ENOMEM;
    struct account *both[] = { &user->own, &u->all };
    for (size_t i = 0; i < ARRAY_SIZE (both); i++) {
        settle (u, both[i], now);
        both[i]->run += (double)cores * accrual (u, both[i]->at - since);
        both[i]->cores += (double)cores;
    }
    return 0;
}

void usage_end (struct usage *u, uint32_t uid, int64_t cores, double since, double now)
{
    struct user *user = user_find (u, uid);

    if (!user)
        return;
    struct account *both[] = { &user->own, &u->all };
    for (size_t i = 0; i < ARRAY_SIZE (both); i++) {
        struct account *a = both[i];
        settle (u, a, now);
        a->cores = MAX (0.0, a->cores - (double)cores);
        double part = (double)cores * accrual (u, a->at - since);
        if (part > a->run || a->cores <= 0)
            part = a->run; /* removes rounding errors, and those from changes of the
                            * half-life */
        a->run -= part;
        a->past += part;
    }
}

int usage_restore (struct usage *u, uint32_t uid, double core_seconds, double at,
                   double now)
{
    if (!isfinite (core_seconds) || core_seconds < 0 || !isfinite (at))
        return -EINVAL;
    struct user *user = user_get (u, uid);
    if (!user)
        return -ENOMEM;
    struct account *both[] = { &user->own, &u->all };
    for (size_t i = 0; i < ARRAY_SIZE (both); i++) {
        settle (u, both[i], now);
        both[i]->past += core_seconds * decay (u, both[i]->at - at);
    }
    return 0;
}

/* -- looks -- */

double usage_of (const struct usage *u, uint32_t uid, double now)
{
    const struct user *user = user_find (u, uid);
    if (!user)
        return 0;
    struct account a = account_at (u, &user->own, now);
    return a.past + a.run;
}

double usage_past (const struct usage *u, uint32_t uid, double now)
{
    const struct user *user = user_find (u, uid);
    return user ? account_at (u, &user->own, now).past : 0;
}

double usage_all (const struct usage *u, double now)
{
    struct account a = account_at (u, &u->all, now);
    return a.past + a.run;
}

double usage_share (const struct usage *u)
{
    size_t n = usage_count (u);
    return n > 0 ? 1.0 / (double)n : 1;
}

static double fair_share (const struct usage *u, const struct user *user, double now)
{
    double all = usage_all (u, now), own = usage_of (u, user->uid, now);
    return all > 0 ? exp2 (-MIN (1.0, own / all) / usage_share (u)) : 1;
}

double usage_fair_share (struct usage *u, uint32_t uid, double now)
{
    struct user *user = user_find (u, uid);

    if (!user)
        return 1;
    if (user->looked != u->round) {
        user->looked = u->round;
        user->factor = fair_share (u, user, now);
    }
    return user->factor;
}

void usage_round (struct usage *u)
{
    u->round++;
}

void usage_drop_idle (struct usage *u, double now, void (*fn) (uint32_t uid, void *arg),
                      void *arg)
{
    struct user *user, *next;

    HASH_ITER (hh, u->users, user, next) {
        struct account a = account_at (u, &user->own, now);
        uint32_t uid = user->uid;
        if (user->named == u->round || a.cores > 0 || a.past + a.run >= IDLE)
            continue;
        settle (u, &u->all, now);
        u->all.past = MAX (0.0, u->all.past - a.past);
        u->all.run = MAX (0.0, u->all.run - a.run);
        user_free (u, user);
        if (fn)
            fn (uid, arg);
    }
}

size_t usage_count (const struct usage *u)
{
    return HASH_COUNT (u->users);
}

bool usage_look (struct usage *u, uint32_t uid, double now, struct usage_user *ret)
{
    const struct user *user = user_find (u, uid);

    if (!user)
        return false;
    struct account a = account_at (u, &user->own, now);
    *ret = (struct usage_user){ .uid = uid,
                                .name = user->name ? user->name : "",
                                .core_seconds = a.past + a.run,
                                .past = a.past,
                                .factor = usage_fair_share (u, uid, now),
                                .cores = (int64_t)a.cores };
    return true;
}

uint32_t *usage_uids (const struct usage *u, size_t *ret_n)
{
    size_t n = 0;
    uint32_t *list = calloc (usage_count (u) + 1, sizeof (*list));

    if (!list)
        return NULL;
    for (const struct user *user = u->users; user; user = user->hh.next)
        list[n++] = user->uid;
    qsort (list, n, sizeof (*list), compare_u32);
    *ret_n = n;
    return list;
}
