/* sacctmgr.h - the parts of sacctmgr: entities, their conditions, and fields
 *
 *     const struct entity *e = entity_find ("users");
 *     entity_read_words (c, e, &query, words, n);         // "where user=ann format=account"
 *     e->get (c, &query, rows);                           // a JSON object for each row
 *     for each row: if (entity_matches (&query, row)) list_format_add_row (&f, row, &sb);
 *
 * This folder holds what fluxq has in the place of Slurm's accounting database. Answers of
 * the broker come in, rows of texts go out. There is one cluster, one account (root) and
 * one QOS (normal); no user is a member of an account, since jobs may name any account.
 */
#pragma once

#include "cmd/client/command.h"
#include "cmd/slurm/words/list_format.h"

#define CONDITIONS_MAX 64

/* A word of a query: a flag without '=', or a condition on a member of the rows. */
struct query_word {
    const char *name; /* NULL ends the table */
    size_t min;       /* the shortest beginning */
    enum { WORD_FLAG, WORD_MEMBER, WORD_FORMAT, WORD_ASSOCIATIONS, WORD_START } id;
    const char *member; /* of WORD_MEMBER */
};

struct query {
    bool associations; /* a row for each association of a user or account */
    struct strbuf fields;
    bool nothing; /* no row can match */
    struct {
        const char *member, *list;
    } conditions[CONDITIONS_MAX];
    size_t n;
};

struct entity {
    const char *name; /* NULL ends the table */
    size_t min;
    const char *names; /* the member that a word without '=' chooses; NULL: none */
    const char *fields, *association_fields;
    const struct query_word *words;
    /* Appends rows to an array. CMD_OK, or the status after a message. */
    int (*get) (struct cmd *c, const struct query *q, json_t *rows);
    /* ... or prints the answer itself. */
    int (*print) (struct cmd *c);
    const char *refused; /* why there is no such list, or NULL */
};

/* NULL: there is none. */
const struct entity *entity_find (const char *word);
/* Reads the words after the entity's name. CMD_OK, or the status after a message. */
int entity_read_words (struct cmd *c, const struct entity *e, struct query *q,
                       const char *const words[], size_t n);
bool entity_matches (const struct query *q, const json_t *row);

/* -- lists (entity_lists.c) -- */

typedef int entity_get_f (struct cmd *c, const struct query *q, json_t *rows);
entity_get_f entity_get_users, entity_get_accounts, entity_get_associations;
entity_get_f entity_get_clusters, entity_get_qos, entity_get_tres, entity_get_events;
entity_get_f entity_get_reservations, entity_get_none;
int entity_print_configuration (struct cmd *c);
int entity_print_runaway (struct cmd *c);

/* The fields of all entities; a row is a JSON object. */
extern const struct list_field entity_fields[];
