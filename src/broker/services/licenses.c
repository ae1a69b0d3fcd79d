/* licenses.c - see licenses.h
 */
#include "broker/services/licenses.h"

#include "broker/api/api.h"
#include "broker/core/jobs.h"
#include "broker/core/no_memory.h"
#include "broker/core/service.h"
#include "broker/core/turn.h"
#include "jobspec/attributes/licenses.h"

struct licenses {
    struct license_pool pool;
};

struct slot {
    bool known; /* `need` was read from the job's record */
    bool holds; /* counted in the pool */
    struct license_need need;
};

static struct service_place place;

/* -- settings -- */

struct settings {
    json_t *totals; /* {"matlab": 10}, of the configuration's document; or NULL */
};

static int read_totals (const struct config_key *key, void *field, json_t *value,
                        const struct config_place *p)
{
    const char *name;
    json_t *count;

    if (!json_is_object (value) || json_object_size (value) > (size_t)key->max)
        return CONFIG_FAIL (p,
                            "%s: expected a mapping of at most %d names, such as "
                            "{matlab: 10}",
                            key->name, (int)key->max);
    json_object_foreach (value, name, count) {
        if (!license_name_is_valid (name))
            return CONFIG_FAIL (p, "%s: '%.80s' cannot be the name of a license",
                                key->name, name);
        if (!json_is_integer (count) || json_integer_value (count) < 0
            || json_integer_value (count) > LICENSE_COUNT_MAX)
            return CONFIG_FAIL (p, "%s: %s: expected a number from 0 to %d", key->name,
                                name, LICENSE_COUNT_MAX);
    }
    *(json_t **)field = value;
    return 0;
}

static const struct config_key keys[] = {
    { "licenses", read_totals, CONFIG_FIELD (struct settings, totals), 0, 10000, NULL },
    { 0 },
};
static const struct settings defaults = { .totals = NULL };

SERVICE_SETTINGS_OF (struct settings)
SERVICE_STATE_OF (struct licenses)
SERVICE_SLOT_OF (struct slot)

static int set_totals (struct broker *b)
{
    struct gres_list totals = { 0 };
    const char *name;
    json_t *count;
    int rc = 0;

    json_object_foreach (settings_of (b)->totals, name, count)
        rc = rc < 0 ? rc : gres_set (&totals, name, json_integer_value (count));
    if (rc == 0)
        rc = license_pool_set (&state_of (b)->pool, &totals);
    gres_release (&totals);
    return rc;
}

static int init (struct broker *b, struct error *err)
{
    return set_totals (b) < 0 ? error_no_memory (err, "licenses") : 0;
}

static void reloaded (struct broker *b, const struct config *old)
{
    (void)old;
    if (set_totals (b) < 0)
        broker_no_memory ("the licenses");
    broker_plan_due (b);
}

static void release (struct broker *b)
{
    license_pool_release (&state_of (b)->pool);
}

/* -- jobs -- */

int licenses_check (struct broker *b, const struct jobspec *js, struct error *err)
{
    const struct license_pool *pool = &state_of (b)->pool;
    struct gres_list asked = { 0 };
    int rc = js->licenses ? licenses_parse (js->licenses, &asked, "licenses", err) : 0;

    for (size_t i = 0; i < asked.n && rc == 0; i++) {
        const struct gres *l = &asked.v[i];
        int64_t total = gres_get (&pool->total, l->name);
        if (!json_object_get (settings_of (b)->totals, l->name))
            rc = error_set (err, EINVAL,
                            "licenses: this site has no license %s; fluxq-info "
                            "--licenses lists them",
                            l->name);
        else if (l->count > total)
            rc = error_set (err, EINVAL,
                            "licenses: %jd of %s are requested, this site has %jd",
                            (intmax_t)l->count, l->name, (intmax_t)total);
    }
    gres_release (&asked);
    return rc;
}

int licenses_are_free (struct broker *b, const struct jobspec *js, struct error *err)
{
    const struct license_pool *pool = &state_of (b)->pool;
    struct gres_list asked = { 0 };
    int rc = js->licenses ? licenses_parse (js->licenses, &asked, "licenses", err) : 0;

    for (size_t i = 0; i < asked.n && rc == 0; i++) {
        const struct gres *l = &asked.v[i];
        int64_t unused = license_pool_free (pool, l->name);
        if (unused < l->count)
            rc = error_set (err, EBUSY, "needs %jd of license %s: %jd of %jd free",
                            (intmax_t)l->count, l->name, (intmax_t)MAX (unused, 0),
                            (intmax_t)gres_get (&pool->total, l->name));
    }
    gres_release (&asked);
    return rc;
}

const struct license_need *licenses_need (struct broker *b, struct entry *e)
{
    struct slot *slot = slot_of (e);
    const char *text =
        json_string_value (json_object_get (entry_job (e)->shown, "licenses"));

    if (!slot->known && text
        && licenses_parse (text, &slot->need.list, "licenses", NULL) == -ENOMEM)
        broker_no_memory ("the licenses of a job");
    slot->known = true;
    slot->need.pool = &state_of (b)->pool;
    return slot->need.list.n > 0 ? &slot->need : NULL;
}

static void count (struct broker *b, struct entry *e, bool holds)
{
    struct slot *slot = slot_of (e);
    const struct license_need *need = licenses_need (b, e);

    if (!need || slot->holds == holds)
        return;
    slot->holds = holds;
    if (!holds)
        license_pool_give (need->pool, &need->list);
    else if (license_pool_take (need->pool, &need->list) < 0)
        broker_no_memory ("the licenses in use");
}

static void replayed (struct broker *b, struct entry *e)
{
    count (b, e, entry_job (e)->allocated);
}

static void event (struct broker *b, struct entry *e, const struct job_change *change)
{
    (void)change;
    count (b, e, entry_job (e)->allocated);
}

static void goes (struct broker *b, struct entry *e)
{
    count (b, e, false);
}

static void drop (struct entry *e)
{
    gres_release (&slot_of (e)->need.list);
}

/* -- GET /v1/licenses -- */

static json_t *license_json (const struct license_pool *pool, const char *name)
{
    json_int_t total = (json_int_t)gres_get (&pool->total, name);
    json_int_t used = (json_int_t)gres_get (&pool->used, name);

    return json_pack ("{s:s s:I s:I s:I}", "name", name, "total", total, "used", used,
                      "free", MAX (total - used, 0));
}

/* In the order of names: those of the configuration, and others that jobs still hold. */
static json_t *licenses_json (struct broker *b)
{
    const struct license_pool *pool = &state_of (b)->pool;
    struct gres_list names = { 0 };
    json_t *list = json_array (), *count;
    const char *name;
    int rc = list ? gres_copy (&names, &pool->used) : -ENOMEM;

    json_object_foreach (settings_of (b)->totals, name, count)
        rc = rc < 0 ? rc : gres_set (&names, name, 1);
    for (size_t i = 0; i < names.n && rc == 0; i++)
        rc = json_array_append_new (list, license_json (pool, names.v[i].name));
    gres_release (&names);
    if (rc == 0)
        return list;
    json_decref (list);
    return NULL;
}

static void api_licenses (struct broker *b, struct http_request *req,
                          const struct api_path *path)
{
    json_t *list = licenses_json (b);

    (void)path;
    api_reply_json (req, 200, list ? json_pack ("{s:o}", "licenses", list) : NULL);
}

static const struct api_route routes[] = {
    { "GET", "/v1/licenses", api_licenses, ROLE_USER, NULL },
    { 0 },
};

const struct broker_service service_licenses = {
    .name = "licenses",
    .order = SERVICE_FIRST, /* licenses are counted before a pass looks for free ones */
    .place = &place,
    .state_size = sizeof (struct licenses),
    .slot_size = sizeof (struct slot),
    .settings = &settings,
    .init = init,
    .reloaded = reloaded,
    .release = release,
    .replayed = replayed,
    .event = event,
    .goes = goes,
    .drop = drop,
    .routes = routes,
};
