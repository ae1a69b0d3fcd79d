/* gres.h - generic resources: counts by name, such as licenses or fabric adapters
 *
 *     struct gres_list l = { 0 };
 *     if (gres_set (&l, "rdma/hca", 2) < 0) ...;     // no memory
 *     gres_get (&l, "rdma/hca");                     // 2; 0: none in the list
 *     gres_release (&l);
 *
 * Resources of a node other than cores, gpus and memory are only counted; units of one
 * name are interchangeable. A list is sorted by names, has each name once, and has no
 * count of 0, so equal lists are equal in memory. The idea and the text form are Slurm's
 * (sbatch(1), --gres).
 */
#pragma once

#include "common/json.h"

#define GRES_NAME_MAX 63
#define GRES_COUNT_MAX INT32_MAX /* units of one name on a node */
#define GRES_LIST_MAX 64         /* names of one node, or of one request */
/* Reserved name, refused by --gres: the CPUs of a node in thousandths, if jobs can get
 * parts of a CPU (machine.h), and the part that a job was granted. */
#define GRES_CPU_MILLI "cpu_milli"
/* Reserved likewise: the temporary disk of a node in MiB (--tmp). */
#define GRES_TMP_DISK "tmp_disk"

struct gres {
    char *name;
    int64_t count; /* > 0 */
};

struct gres_list {
    struct gres *v;
    size_t n;
};

#define GRES_RESERVED 2 /* the number of reserved names */

/* 1 to 63 letters, digits and "_-./:"; a letter or digit first, last and after each '/'
 * and ':'; at most one '/'; not a type with a meaning of its own ("node", "core",
 * "memory", ...). */
bool gres_name_is_valid (const char *name);
/* Whether the name is a reserved one, which listings of generic resources leave out. */
bool gres_is_reserved (const char *name);
int64_t gres_get (const struct gres_list *l, const char *name);
/* Set the count of a name; count <= 0 removes the name. 0, or -ENOMEM: nothing has
 * changed. O(n) */
int gres_set (struct gres_list *l, const char *name, int64_t count);
/* Add the counts of more (sign 1), or subtract them (sign -1); a name whose count becomes
 * 0 or less is removed. 0, or -ENOMEM (only when adding): l is partly changed. */
int gres_add (struct gres_list *l, const struct gres_list *more, int sign);
/* Copy from to *to, which must be empty. 0 or -ENOMEM. */
int gres_copy (struct gres_list *to, const struct gres_list *from);
bool gres_equal (const struct gres_list *a, const struct gres_list *b);
void gres_release (struct gres_list *l);
/* Parse "NAME[:TYPE][:COUNT],...": COUNT is a number, with an optional suffix k, m or g
 * (1024-based), 1 by default; NAME:TYPE is one name. "none": an empty list. Errors begin
 * with where: -EINVAL, -ERANGE, -ENOMEM; ret is then empty. */
int gres_parse (const char *text, struct gres_list *ret, const char *where,
                struct error *err);
/* Append "license:2,rdma/hca:1"; nothing for an empty list. */
void strbuf_add_gres (struct strbuf *sb, const struct gres_list *l);
/* {"license": 2}, a new reference; NULL: no memory. */
json_t *gres_to_json (const struct gres_list *l);
/* Read the object into *ret, which must be empty and which the caller releases, also
 * after an error. Reserved names are allowed. -EINVAL: the error begins with where;
 * -ENOMEM. */
int gres_from_json (const json_t *o, struct gres_list *ret, const char *where,
                    struct error *err);
