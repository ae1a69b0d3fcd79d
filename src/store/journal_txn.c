/* journal_txn.c - building a transaction; see journal.h */
#include <errno.h>
#include <string.h>

#include "store/journal_private.h"

static void journal_txn_discard (struct item *item)
{
    journal_txn_destroy (CONTAINER_OF (item, struct journal_txn, item));
}

struct journal_txn *journal_txn_create (void)
{
    struct journal_txn *t = calloc (1, sizeof (*t));

    if (t)
        t->item.discard = journal_txn_discard;
    return t;
}

void journal_txn_destroy (struct journal_txn *t)
{
    if (!t)
        return;
    while (t->ops) {
        struct op *next = t->ops->next;
        free (t->ops);
        t->ops = next;
    }
    free (t->err);
    free (t);
}

bool journal_txn_empty (const struct journal_txn *t)
{
    return !t || (!t->ops && t->rc == 0);
}

/* Appends an operation with copies of both texts (either may be NULL). */
static struct op *add_op (struct journal_txn *t, enum op_kind kind, uint64_t id,
                          const char *name, const char *text, size_t len)
{
    size_t name_size = name ? strlen (name) + 1 : 0;

    if (!t)
        return NULL;
    if (id > INT64_MAX && t->rc == 0)
        t->rc = -EINVAL;
    struct op *op =
        len < SIZE_MAX / 2 ? calloc (1, sizeof (*op) + name_size + len + 1) : NULL;
    if (!op) {
        t->rc = -ENOMEM;
        return NULL;
    }
    op->kind = kind;
    op->id = id;
    if (name)
        op->name = memcpy (op->data, name, name_size);
    if (text) {
        op->text = memcpy (op->data + name_size, text, len);
        op->text_len = len;
    }
    if (t->last)
        t->last->next = op;
    else
        t->ops = op;
    t->last = op;
    t->bytes += sizeof (*op) + name_size + len;
    return op;
}

void journal_txn_job (struct journal_txn *t, uint64_t id, uint32_t uid, const char *key,
                      const char *jobspec, size_t len)
{
    struct op *op = add_op (t, OP_JOB, id, key, jobspec, len);

    if (!op)
        return;
    op->uid = uid;
    if (key && strlen (key) > JOURNAL_KEY_MAX && t->rc == 0)
        t->rc = -EINVAL;
}

void journal_txn_job_of (struct journal_txn *t, uint64_t id, uint32_t uid, uint64_t of)
{
    struct op *op = add_op (t, OP_JOB_OF, id, NULL, NULL, 0);

    if (!op)
        return;
    op->uid = uid;
    op->of = of;
}

void journal_txn_keep_ids (struct journal_txn *t, uint64_t last)
{
    add_op (t, OP_KEEP_IDS, last, NULL, NULL, 0);
}

void journal_txn_event (struct journal_txn *t, uint64_t id, double timestamp,
                        const char *name, const char *context)
{
    struct op *op =
        add_op (t, OP_EVENT, id, name, context, context ? strlen (context) : 0);

    if (op)
        op->time = timestamp;
}

void journal_txn_prune (struct journal_txn *t, uint64_t id)
{
    add_op (t, OP_PRUNE, id, NULL, NULL, 0);
}

void journal_txn_inactive (struct journal_txn *t, uint64_t id)
{
    add_op (t, OP_INACTIVE, id, NULL, NULL, 0);
}

void journal_txn_setting (struct journal_txn *t, const char *name, const char *value)
{
    add_op (t, OP_SETTING, 0, name, value, value ? strlen (value) : 0);
}
