/* sinfo.h - the parts of sinfo: options, fields, and the filter of states
 */
#pragma once

#include "cmd/client/command.h"
#include "cmd/slurm/words/format.h"
#include "cmd/slurm/nodes/nodeview.h"
#include "cmd/slurm/nodes/sinfo_lines.h"

/* -- the filter of states -- */

#define SINFO_STATES_MAX 64

struct sinfo_states {
    struct sinfo_state {
        unsigned bits; /* enum node_bits; 0: a state that no node of fluxq has */
        bool drained, draining, not_in;
    } v[SINFO_STATES_MAX];
    size_t n; /* 0: all nodes */
    bool all; /* a node must be in each of them, not in one */
};

/* Reads "idle,mix", "drain&idle", "~down", "all": names, in any case, and their
 * beginnings. -EINVAL: err has the word. */
int sinfo_states_parse (struct sinfo_states *ret, const char *text, struct error *err);
/* used: whether jobs have cores of the node. */
bool sinfo_states_match (const struct sinfo_states *states, unsigned state, bool used);
/* Appends the names, with `between` between them. */
void sinfo_states_add_names (struct strbuf *sb, const char *between);

/* -- options -- */

struct sinfo {
    const char *letters, *names; /* of -o and -O */
    const char *states_text, *partitions, *hosts_text, *sort, *operand;
    bool all, header, each_node, long_list, summary, reasons, exact, dead, responding;
    bool noconvert, reservations, json;
    double iterate;

    /* what sinfo.c makes of them */
    struct slurm_format format;
    struct sinfo_states states;
    struct hostlist *hosts;        /* NULL: all */
    bool fit_partition, fit_nodes; /* columns as wide as their texts */
};

extern const struct option_desc sinfo_options[];

/* Reads the command line and the variables. CMD_OK, or c->status after a message; if
 * c->ended is set, there is nothing more to do. */
int sinfo_read_options (struct cmd *c, struct sinfo *s);

/* -- fields: a row is a struct sinfo_line, needs are enum sinfo_by -- */

extern const struct slurm_field sinfo_fields[];
