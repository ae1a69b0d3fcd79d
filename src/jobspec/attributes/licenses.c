/* licenses.c - see licenses.h
 */
#include "jobspec/attributes/licenses.h"

#include <ctype.h>

#include "common/parse.h"

bool license_name_is_valid (const char *name)
{
    static const char allowed[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                  "0123456789_-./@";
    size_t len = strspn (name, allowed);

    return len > 0 && !name[len] && len <= GRES_NAME_MAX
           && isalnum ((unsigned char)name[0]);
}

static int add (struct gres_list *ret, const char *name, int64_t count, const char *where,
                struct error *err)
{
    int64_t sum = gres_get (ret, name) + count;

    if (sum > LICENSE_COUNT_MAX)
        return error_set (err, ERANGE, "%s: more than %d licenses of %s", where,
                          LICENSE_COUNT_MAX, name);
    if (ret->n == GRES_LIST_MAX && gres_get (ret, name) == 0)
        return error_set (err, ERANGE, "%s: more than %d names", where, GRES_LIST_MAX);
    return gres_set (ret, name, sum) < 0 ? error_no_memory (err, where) : 0;
}

/* "NAME", "NAME:COUNT" or "NAME=COUNT"; 0 is accepted and adds nothing, as in Slurm. */
static int read_entry (char *entry, struct gres_list *ret, const char *where,
                       struct error *err)
{
    char *count = strpbrk (entry, ":=");
    int64_t n = 1;

    if (count)
        *count++ = '\0';
    if (!license_name_is_valid (entry))
        return error_set (err, EINVAL,
                          "%s: '%.80s' cannot be the name of a license; write "
                          "NAME[:COUNT],...",
                          where, entry);
    if (count && parse_int (count, 0, LICENSE_COUNT_MAX, &n, where, err) < 0)
        return -err->code;
    return add (ret, entry, n, where, err);
}

int licenses_parse (const char *text, struct gres_list *ret, const char *where,
                    struct error *err)
{
    struct error own;
    autofree char *copy = strdup (text);
    int rc = copy ? 0 : error_no_memory (err, where);

    err = err ? err : &own;
    *ret = (struct gres_list){ 0 };
    if (rc == 0 && strchr (text, '|'))
        return error_set (err, EINVAL,
                          "%s: one license or another ('|') cannot be asked for; name "
                          "the licenses that the job needs, separated by ','",
                          where);
    if (rc == 0 && !text[strspn (text, ",;")])
        return error_set (err, EINVAL, "%s: names no license; write NAME[:COUNT],...",
                          where);
    for (char *entry = copy; rc == 0 && entry && *entry;) {
        size_t len = strcspn (entry, ",;");
        bool last = !entry[len];
        entry[len] = '\0';
        if (len > 0)
            rc = read_entry (entry, ret, where, err);
        entry = last ? NULL : entry + len + 1;
    }
    if (rc < 0)
        gres_release (ret);
    return rc;
}
