/* scontrol_show_license.c - scontrol show licenses: the licenses of the site
 */
#include "cmd/print/print.h"
#include "cmd/slurm/control/scontrol.h"
#include "cmd/slurm/jobs/job_json.h"

static const char *const numbers[][2] = {
    { "Total", "total" },
    { "Used", "used" },
    { "Free", "free" },
};

static void print_license (const struct scontrol *s, const json_t *license)
{
    printf ("LicenseName=%s%s", json_text (license, "name"), s->oneline ? " " : "\n    ");
    for (size_t i = 0; i < ARRAY_SIZE (numbers); i++)
        printf ("%s=%.0f ", numbers[i][0], answer_number (license, numbers[i][1]));
    puts ("Reserved=0 Remote=no");
}

/* The shape of Slurm's data_parser; licenses of fluxq are neither remote nor reserved. */
static json_t *license_json (const json_t *license)
{
    json_t *o =
        json_pack ("{s:s s:b s:i s:i s:i s:i s:s}", "LicenseName",
                   json_text (license, "name"), "Remote", 0, "Reserved", 0,
                   "LastConsumed", 0, "LastDeficit", 0, "LastUpdate", 0, "Nodes", "");

    for (size_t i = 0; i < ARRAY_SIZE (numbers); i++)
        json_object_set (o, numbers[i][0], json_object_get (license, numbers[i][1]));
    return o;
}

static void print_all_json (struct scontrol *s, const json_t *licenses)
{
    json_t *list = json_array ();
    const json_t *license;
    size_t i;

    json_array_foreach (licenses, i, license)
        json_array_append_new (list, license_json (license));
    job_json_print (s->c, "licenses", list);
}

void scontrol_show_licenses (struct scontrol *s, const char *value)
{
    struct refusal why;
    autojson json_t *o = NULL;
    const json_t *license, *list;
    size_t i;

    if (scontrol_call (s, "GET", "/v1/licenses", NULL, &o, &why) < 0) {
        scontrol_say (s, "slurm_load_license error: %s", why.words);
        return;
    }
    list = json_object_get (o, "licenses");
    if (s->json) {
        print_all_json (s, list);
        return;
    }
    if (json_array_size (list) == 0)
        puts ("No licenses configured in Slurm.");
    json_array_foreach (list, i, license)
        if (!value || !strcmp (value, json_text (license, "name")))
            print_license (s, license);
}
