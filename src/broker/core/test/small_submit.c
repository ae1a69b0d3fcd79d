/* small_submit.c - jobs of small.h, as if their submit were on disk */
#include "broker/core/test/small_inside.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "broker/core/sizes.h"
#include "common/strbuf.h"
#include "common/yaml.h"

static struct jobspec *make_spec (const char *system, uint64_t id)
{
    autostrbuf struct strbuf text;
    struct error err = { 0 };

    strbuf_init (&text, SMALL_TEXT_MAX);
    strbuf_addf (&text,
                 "version: 1\n"
                 "resources: [{type: slot, count: %u, label: task, with: [{type: core, "
                 "count: 1}]}]\n"
                 "tasks: [{command: [\"true\"], slot: task, count: {per_slot: 1}}]\n"
                 "attributes: {system: {%s}}\n",
                 small_current->slots ? small_current->slots : 1, system);
    struct yaml_doc *doc = yaml_load (text.buf, text.len, "job", &err);
    autofree char *json = doc ? json_dumps (yaml_root (doc), JSON_COMPACT) : NULL;
    struct jobspec *js = json ? jobspec_parse (json, strlen (json), &err) : NULL;
    if (js)
        small_keep_job (id, 1000, NULL, json);
    yaml_destroy (doc);
    if (!js && err.code && err.code != ENOMEM)
        fail_msg ("%s", err.text);
    return js;
}

static json_t *submit_context (const struct jobspec *js)
{
    json_t *o = json_pack ("{s:i s:i s:i s:i s:i s:s s:s s:s s:f}", "userid", 1000,
                           "urgency", 16, "flags", 0, "version", 1, "groupid", 1000,
                           "user", "user", "name", js->name ? js->name : "job", "queue",
                           "batch", "duration", js->duration);

    if (o && js->deadline > 0)
        json_object_set_new (o, "deadline", json_real (js->deadline));
    if (o && js->begin > 0)
        json_object_set_new (o, "begin", json_real (js->begin));
    if (o && js->array.text)
        json_object_set_new (o, "array", json_string (js->array.text));
    return o && sizes_to_submit (o, js) == 0 ? o : NULL;
}

struct entry *small_submit (struct small *s, const char *system)
{
    struct broker *b = s->b;
    long countdown = small_spare ();
    struct jobspec *js = make_spec (system, b->table.next_id);
    small_resume (countdown);
    struct entry *e = entry_create (b->table.next_id);

    if (!e) {
        jobspec_destroy (js);
        return NULL;
    }
    e->js = js;
    services_call (replayed, b, e);
    if (!e->req) {
        entry_destroy (e);
        return NULL;
    }
    countdown = small_spare ();
    json_t *context = submit_context (js);
    small_resume (countdown);
    b->table.next_id += js->array.tasks ? job_array_ids (&js->array) : 1;
    entry_take_sizes (e);
    services_call (take, b, e, false);
    e->submitting = true;
    int rc = broker_emit (b, e, "submit", context);
    e->submitting = false;
    if (rc < 0 || entry_job (e)->state == JOB_NEW
        || entry_job (e)->state == JOB_PRIORITY) { /* as in submit.c: an event is lost */
        assert_true (rc == 0 || rc == -ENOMEM);
        small_forget_job (entry_id (e));
        entry_destroy (e);
        return NULL;
    }
    entry_insert (b, e);
    entry_count (b, e);
    services_call (comes, b, e);
    if (entry_job (e)->state == JOB_DEPEND)
        broker_act (b, e, JOB_ACT_DEPEND);
    else
        broker_enqueue (b, e);
    return e;
}
