/* names.c - checks that the names in a jobspec are printable
 *
 * Checked are names of jobs, labels, properties, images and other strings that other
 * users see in lists, reasons and messages. Not checked are strings that only the job
 * itself reads, and names of files: a user's files can have any names, which are escaped
 * for display.
 */

#include "common/printable.h"
#include "jobspec/jobspec.h"

#define WHERE_MAX 256

static bool is_of_the_job_alone (const char *key)
{
    static const char *const keys[] = { "environment", "files",      "shell",
                                        "cwd",         "submit-dir", "script-path" };

    for (size_t i = 0; i < ARRAY_SIZE (keys); i++)
        if (!strcmp (keys[i], key))
            return true;
    return false;
}

static int check (const json_t *value, const char *where, struct error *err)
{
    char at[WHERE_MAX];
    const char *key;
    json_t *one;
    size_t i;
    int rc = 0;

    if (json_is_string (value))
        return printable_check (json_string_value (value), where, err);
    json_array_foreach (value, i, one) {
        snprintf (at, sizeof (at), "%s[%zu]", where, i);
        if ((rc = check (one, at, err)) < 0)
            return rc;
    }
    json_object_foreach ((json_t *)(uintptr_t)value, key, one) {
        snprintf (at, sizeof (at), "%s.%s", where, key);
        if ((rc = printable_check (key, where, err)) < 0
            || (!is_of_the_job_alone (key) && (rc = check (one, at, err)) < 0))
            return rc;
    }
    return 0;
}

int jobspec_check_names (const struct jobspec *js, struct error *err)
{
    int rc = check (json_object_get (js->root, "resources"), "jobspec: resources", err);

    return rc < 0 ? rc
                  : check (json_object_get (js->root, "attributes"), "jobspec: attributes", err);
}
