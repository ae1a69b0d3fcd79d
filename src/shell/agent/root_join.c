/* root_join.c - rank 0: reports the ranks that have not joined in time */

#include "common/hostlist.h"
#include "common/parse.h"
#include "shell/agent/root.h"

/* Whether a rank has not joined although its parent has, so that its own node is at
 * fault. The state of ranks behind an absent one is not known. */
static bool is_missing (const struct root *root, uint32_t rank)
{
    const uint8_t *ranks = root->js.ranks;
    return ranks[rank] == RANK_ABSENT
           && (rank == 0 || ranks[tree_parent (&root->agent->tree, rank)] != RANK_ABSENT);
}

/* "node[4-6]": the missing ranks, or the ranks behind them. NULL: none, no memory. */
static char *absent_names (const struct root *root, bool missing)
{
    autohostlist struct hostlist *hl = hostlist_create ();
    for (uint32_t rank = 0; hl && rank < root->js.nranks; rank++)
        if (root->js.ranks[rank] == RANK_ABSENT && is_missing (root, rank) == missing)
            hostlist_append (hl, root_node (root, rank));
    return hl && hostlist_count (hl) > 0 ? hostlist_encode (hl) : NULL;
}

/* "3 of 8 nodes did not join within 1:00: node1; behind them: node[4-5]" */
static void join_timeout_text (const struct root *root, char *text, size_t size)
{
    autostrbuf struct strbuf limit = STRBUF_INIT (32);
    autofree char *missing = absent_names (root, true);
    autofree char *behind = absent_names (root, false);
    strbuf_add_duration (&limit, jobstate_joining (&root->js, loop_now ()) + 0.5);
    snprintf (text, size, "%u of %u nodes did not join within %s: %s%s%s",
              root->js.nranks - root->js.njoined, root->js.nranks, limit.buf,
              missing ? missing : "", behind ? "; behind them: " : "",
              behind ? behind : "");
}

/* Writes a frame for each node, so that a program can tell which nodes are missing. */
static void name_missing (struct root *root)
{
    char text[300];
    for (uint32_t rank = 0; rank < root->js.nranks; rank++) {
        if (!is_missing (root, rank))
            continue;
        snprintf (text, sizeof (text), "node %s: its agent did not join",
                  root_node (root, rank));
        root_append_text (root, FRAME_LOST, rank, text);
    }
}

/* Reports the missing nodes to programs and to people. */
void root_say_missing (struct root *root, char *text, size_t size)
{
    name_missing (root);
    join_timeout_text (root, text, size);
}
