/* show_slurm.c - fluxq-show slurm-options: what becomes of each option of Slurm
 *
 * Lines of a table in Markdown, for people and for doc/guide/slurm.md.
 */
#include "cmd/show/show.h"
#include "jobspec/options/attributes.h"
#include "jobspec/options/slurm_options.h"

static void add_option (struct strbuf *sb, const struct slurm_option *o)
{
    const struct attribute *a =
        o->sets ? attribute_find (o->sets, strlen (o->sets)) : NULL;
    const char *arg = o->arg ? o->arg : a ? a->arg : NULL;
    bool optional = o->arg_optional || (a && !o->arg && a->arg_optional);

    strbuf_adds (sb, "| `");
    if (o->letter)
        strbuf_addf (sb, "-%c`, `", o->letter);
    strbuf_addf (sb, "--%s", o->name);
    /* a bar would end the cell */
    for (const char *p = arg; p && *p; p++)
        strbuf_addf (sb, "%s%s%c",
                     p > arg    ? ""
                     : optional ? "[="
                                : "=",
                     *p == '|' ? "\\" : "", *p);
    strbuf_adds (sb, optional ? "]` |" : "` |");
}

static void add_treatment (struct strbuf *sb, const struct slurm_option *o)
{
    switch (o->treatment) {
    case SLURM_DONE:
        strbuf_adds (sb, "done");
        if (o->steps)
            strbuf_addf (sb, ", by the steps (`%s`)", o->steps);
        else if (!o->sets)
            strbuf_addf (sb, ": %s", o->text);
        else if (strcmp (o->sets, o->name) != 0)
            strbuf_addf (sb, ", by `--%s` of fluxq", o->sets);
        else if (o->text)
            strbuf_addf (sb, "; %s", o->text);
        break;
    case SLURM_STORED:
        strbuf_adds (sb, "stored and shown");
        break;
    case SLURM_COMMAND:
        strbuf_addf (sb, "done: %s", o->text);
        break;
    default:
        strbuf_addf (sb, "refused: %s", o->text ? o->text : "remove it");
    }
}

int show_slurm_options (struct cmd *c, const struct show *s)
{
    static const struct {
        enum slurm_command command;
        const char *name;
    } names[] = { { SLURM_SBATCH, "sbatch" },
                  { SLURM_SRUN, "srun" },
                  { SLURM_SALLOC, "salloc" } };
    size_t n = 0;

    printf ("| option | of | what becomes of it |\n|---|---|---|\n");
    for (const struct slurm_option *o = slurm_option_table; o->name; o++) {
        autostrbuf struct strbuf sb = STRBUF_INIT (4096);
        bool wanted = s->n == 0;
        for (size_t i = 0; i < s->n; i++)
            wanted |= !strcmp (s->names[i] + strspn (s->names[i], "-"), o->name);
        if (!wanted)
            continue;
        add_option (&sb, o);
        for (size_t i = 0, some = 0; i < ARRAY_SIZE (names); i++)
            if (o->commands & names[i].command)
                strbuf_addf (&sb, "%s%s", some++ ? ", " : " ", names[i].name);
        strbuf_adds (&sb, " | ");
        add_treatment (&sb, o);
        printf ("%s |\n", sb.buf);
        n++;
    }
    return n > 0 ? CMD_OK
                 : cmd_fail (c, "Slurm has no option --%s",
                             s->names[0] + strspn (s->names[0], "-"));
}
