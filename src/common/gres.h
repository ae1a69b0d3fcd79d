/* gres.h - generic resources: amounts by name, such as licenses or fabric adapters
 *
 *     struct gres_list l = { 0 };
 *     if (gres_set (&l, "rdma/hca", 2) < 0) ...;     // no memory
 *     gres_get (&l, "rdma/hca");                     // 2; 0: it has none
 *     gres_release (&l);
 *
 * What a node has beside cores, gpus and memory is counted and nothing else: one is as good
 * as another. A list is sorted by names, each is in it once, and none with 0: so equal lists
 * are equal in memory. The idea, and how a list is written, are Slurm's (sbatch(1), --gres).
 */
#ifndef FLUXQ_COMMON_GRES_H
#define FLUXQ_COMMON_GRES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/error.h"
#include "common/json.h"
#include "common/strbuf.h"

#define GRES_NAME_MAX 63
#define GRES_COUNT_MAX INT32_MAX /* of one on a node */
#define GRES_LIST_MAX 64         /* that one node, or one request, can have */
/* Not to be asked for by --gres, nor offered under it: a node's CPUs in thousandths, where parts
 * of a CPU can be given (machine.h), and what a job was given of them. */
#define GRES_CPU_MILLI "cpu_milli"

struct gres {
    char *name;
    int64_t count; /* > 0 */
};

struct gres_list {
    struct gres *v;
    size_t n;
};

/* 1 to 63 letters, digits and "_-./:", a letter or digit first, last and behind each '/' and
 * ':'; at most one '/', and not one of the types that have a meaning of their own ("node", "core", "memory", ...). */
bool gres_name_is_valid (const char *name);
int64_t gres_get (const struct gres_list *l, const char *name);
/* count <= 0: it goes. 0 or -ENOMEM, and nothing has changed. O(n) */
int gres_set (struct gres_list *l, const char *name, int64_t count);
/* sign 1 or -1: so much more, or less, of each; what is no more than 0 goes. 0; -ENOMEM: some of
 * it has been done (only when something is added). */
int gres_add (struct gres_list *l, const struct gres_list *more, int sign);
/* *to, which is empty, becomes the same. 0 or -ENOMEM. */
int gres_copy (struct gres_list *to, const struct gres_list *from);
bool gres_equal (const struct gres_list *a, const struct gres_list *b);
void gres_release (struct gres_list *l);
/* "NAME[:TYPE][:COUNT],...": a count is a number with or without k, m, g (1024-based), 1 where
 * there is none; NAME:TYPE is one name. "none": an empty list. Errors begin with where: -EINVAL,
 * -ERANGE, -ENOMEM; ret is then empty. */
int gres_parse (const char *text, struct gres_list *ret, const char *where,
                struct error *err);
/* "license:2,rdma/hca:1"; nothing for an empty list. */
void strbuf_add_gres (struct strbuf *sb, const struct gres_list *l);
/* {"license": 2}, a new reference; NULL: no memory. */
json_t *gres_to_json (const struct gres_list *l);
/* GRES_CPU_MILLI may be among them. *ret is empty before; the caller's, also after an error: -EINVAL, which begins with where, or
 * -ENOMEM. */
int gres_from_json (const json_t *o, struct gres_list *ret, const char *where,
                    struct error *err);

#endif
