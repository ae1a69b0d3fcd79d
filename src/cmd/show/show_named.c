/* show_named.c - fluxq-show queue and reservation: those that are named, or all */
#include <string.h>

#include "cmd/print/print.h"
#include "cmd/show/show.h"

static bool has_name (const json_t *list, const char *name)
{
    const json_t *o;
    size_t i;

    json_array_foreach (list, i, o) {
        if (!strcmp (json_text (o, "name"), name))
            return true;
    }
    return false;
}

/* Those of the list that the user names, or all; a new list. */
static json_t *wanted_of (const struct show *s, const json_t *all)
{
    json_t *list = json_array (), *o;
    size_t i;

    json_array_foreach (all, i, o) {
        bool wanted = s->n == 0;
        for (size_t k = 0; k < s->n && !wanted; k++)
            wanted = !strcmp (s->names[k], json_text (o, "name"));
        if (wanted)
            json_array_append (list, o);
    }
    return list;
}

int show_named (struct cmd *c, const struct show *s, const char *kind,
                void (*show_one) (const json_t *o))
{
    char target[64], key[32];
    json_t *answer, *o;
    int status = CMD_OK;
    size_t i;

    snprintf (target, sizeof (target), "/v1/%ss", kind);
    snprintf (key, sizeof (key), "%ss", kind);
    if (cmd_get (c, target, &answer) != CMD_OK)
        return c->status;
    autojson json_t *list = wanted_of (s, json_object_get (answer, key));
    for (size_t k = 0; k < s->n; k++)
        if (!has_name (list, s->names[k]))
            status = cmd_fail (c, "there is no %s %s", kind, s->names[k]);
    if (s->json) {
        json_object_set (answer, key, list);
        print_json (answer);
    }
    json_array_foreach (s->json ? NULL : list, i, o) {
        if (i > 0)
            putchar ('\n');
        show_one (o);
    }
    json_decref (answer);
    return status;
}
