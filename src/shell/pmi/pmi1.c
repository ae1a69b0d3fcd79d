/* pmi1.c - PMI version 1.1: lines of NAME=VALUE, separated by blanks
 *
 *     cmd=put kvsname=12.0 key=card-3 value=10.0.0.7:4711
 *     cmd=put_result rc=0 msg=success
 *
 * A value ends at a blank, but the value of "value" ends at the end of the line. There is
 * no quoting, so a pair that was put by PMI-2 may be impossible to express here. Only
 * mcmd=spawn has several lines, up to "endcmd", repeated totspawns times. Some clients
 * ignore rc, so a failed reply has no value either. */
#include "shell/pmi/pmi_private.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#define VERSION 1
#define SUBVERSION 1

/* Parts of a line. */

ssize_t pmi1_length (const char *data, size_t avail, struct error *err)
{
    size_t len = MIN (avail, (size_t)PMI_LINE_MAX);
    const char *end = memchr (data, '\n', len);

    if (memchr (data, '\0', end ? (size_t)(end - data) : len))
        return error_set (err, EPROTO, "a NUL in a command");
    if (end)
        return end - data + 1;
    if (len == PMI_LINE_MAX)
        return error_set (err, EPROTO, "a line of more than %d bytes", PMI_LINE_MAX);
    return 0;
}

/* Splits the line in place. Words without '=' have the value "". */
static void parse (char *line, struct pmi_message *ret)
{
    char *next = line;

    ret->n = 0;
    while (*(next += strspn (next, " ")) && ret->n < PMI_FIELDS_MAX) {
        char *name = next;
        char *value = name + strcspn (name, "= ");
        bool has_value = *value == '=';
        if (*value)
            *value++ = '\0';
        next = value;
        if (has_value)
            next += strcmp (name, "value") == 0 ? strlen (value) : strcspn (value, " ");
        struct pmi_field field = { name, has_value ? value : "", 0 };
        if (has_value && *next)
            *next++ = '\0';
        field.len = strlen (field.value);
        ret->fields[ret->n++] = field;
    }
}

/* Replies. */

static void add_head (struct pmi_reply *reply, const char *cmd, enum pmi_rc rc)
{
    reply->len = 0;
    pmi_reply_addf (reply, "cmd=%s rc=%d msg=%s", cmd, (int)rc, pmi_rc_text (rc));
}

static void send_reply (struct pmi *pmi, const struct pmi_task *task,
                        struct pmi_reply *reply)
{
    pmi_reply_add (reply, "\n", 1);
    pmi_send (pmi, task, reply->text, reply->len);
}

static void answer (struct pmi *pmi, const struct pmi_task *task, const char *cmd,
                    enum pmi_rc rc, const char *fields)
{
    struct pmi_reply reply;

    add_head (&reply, cmd, rc);
    pmi_reply_addf (&reply, "%s", fields);
    send_reply (pmi, task, &reply);
}

void pmi1_fenced (struct pmi *pmi, struct pmi_task *task, enum pmi_rc rc)
{
    answer (pmi, task, "barrier_out", rc, "");
}

/* Commands. Each returns 0, or a negative errno to close the connection. */

static int init (struct pmi *pmi, struct pmi_task *task, const struct pmi_message *msg,
                 struct error *err)
{
    int64_t version = pmi_number (msg, "pmi_version", 0);
    bool known = version == 1 || version == 2;
    struct pmi_reply reply;

    (void)err;
    if (task->phase == PMI_READY) {
        answer (pmi, task, "response_to_init", PMI_RC_INIT, "");
        return 0;
    }
    if (known) {
        task->version = (int)version;
        task->phase = version == 1 ? PMI_READY : PMI_GREETED;
    }
    add_head (&reply, "response_to_init", known ? PMI_RC_OK : PMI_RC_FAIL);
    pmi_reply_addf (&reply, " pmi_version=%d pmi_subversion=%d",
                    version == 2 ? 2 : VERSION, version == 2 ? 0 : SUBVERSION);
    send_reply (pmi, task, &reply);
    return 0;
}

static int get_maxes (struct pmi *pmi, struct pmi_task *task,
                      const struct pmi_message *msg, struct error *err)
{
    struct pmi_reply reply;

    (void)msg, (void)err;
    add_head (&reply, "maxes", PMI_RC_OK);
    pmi_reply_addf (&reply, " kvsname_max=%d keylen_max=%d vallen_max=%d",
                    PMI_NAME_MAX + 1, KVS_KEY_MAX, KVS_VALUE_MAX);
    send_reply (pmi, task, &reply);
    return 0;
}

static int get_my_kvsname (struct pmi *pmi, struct pmi_task *task,
                           const struct pmi_message *msg, struct error *err)
{
    struct pmi_reply reply;

    (void)msg, (void)err;
    add_head (&reply, "my_kvsname", PMI_RC_OK);
    pmi_reply_addf (&reply, " kvsname=%s", pmi->jobid);
    send_reply (pmi, task, &reply);
    return 0;
}

static int get_universe_size (struct pmi *pmi, struct pmi_task *task,
                              const struct pmi_message *msg, struct error *err)
{
    struct pmi_reply reply;

    (void)msg, (void)err;
    add_head (&reply, "universe_size", PMI_RC_OK);
    pmi_reply_addf (&reply, " size=%" PRIu32, pmi->ntasks);
    send_reply (pmi, task, &reply);
    return 0;
}

/* There is one KVS, that of the job; its name may be omitted. */
static bool is_our_kvs (const struct pmi *pmi, const struct pmi_message *msg)
{
    return strcmp (pmi_text (msg, "kvsname", pmi->jobid), pmi->jobid) == 0;
}

static int put (struct pmi *pmi, struct pmi_task *task, const struct pmi_message *msg,
                struct error *err)
{
    (void)err;
    answer (pmi, task, "put_result",
            is_our_kvs (pmi, msg) ? pmi_put (pmi, msg) : PMI_RC_ARGUMENT, "");
    return 0;
}

static enum pmi_rc find_value (const struct pmi *pmi, const struct pmi_message *msg,
                               const char **ret)
{
    const struct pmi_field *key = pmi_field (msg, "key");

    if (!key || !is_our_kvs (pmi, msg))
        return PMI_RC_ARGUMENT;
    *ret = pmi_get (pmi, key->value, key->len);
    if (!*ret)
        return PMI_RC_KEY;
    return strchr (*ret, '\n') ? PMI_RC_VALUE : PMI_RC_OK;
}

static int get (struct pmi *pmi, struct pmi_task *task, const struct pmi_message *msg,
                struct error *err)
{
    const char *value = NULL;
    enum pmi_rc rc = find_value (pmi, msg, &value);
    struct pmi_reply reply;

    (void)err;
    /* Without msg: the line must not be longer than the client's buffer. */
    if (rc == PMI_RC_OK) {
        reply.len = 0;
        pmi_reply_addf (&reply, "cmd=get_result rc=0 value=%s", value);
    } else {
        add_head (&reply, "get_result", rc);
    }
    send_reply (pmi, task, &reply);
    return 0;
}

/* Whether a line can express this pair unambiguously. */
static bool is_plain (const struct kvs_pair *pair)
{
    return !strpbrk (pair->key, " \n=") && !strchr (kvs_value (pair), '\n');
}

static int getbyidx (struct pmi *pmi, struct pmi_task *task,
                     const struct pmi_message *msg, struct error *err)
{
    int64_t index = pmi_number (msg, "idx", -1);
    const struct kvs_pair *pair = NULL;
    struct pmi_reply reply;

    (void)err;
    if (index >= 0 && is_our_kvs (pmi, msg))
        for (pair = kvs_at (pmi->kvs, (size_t)index); pair && !is_plain (pair); index++)
            pair = kvs_at (pmi->kvs, (size_t)index + 1);
    if (pair) {
        reply.len = 0;
        pmi_reply_addf (&reply,
                        "cmd=getbyidx_results rc=0 nextidx=%" PRId64 " key=%s val=%s",
                        index + 1, pair->key, kvs_value (pair));
    } else {
        add_head (&reply, "getbyidx_results", PMI_RC_FAIL);
        pmi_reply_addf (&reply, " reason=no_more_keyvals");
    }
    send_reply (pmi, task, &reply);
    return 0;
}

/* A barrier of only some tasks belongs to version 1.2. */
static int barrier_in (struct pmi *pmi, struct pmi_task *task,
                       const struct pmi_message *msg, struct error *err)
{
    if (!pmi_field (msg, "group"))
        return pmi_fence (pmi, task, err);
    answer (pmi, task, "barrier_out", PMI_RC_ARGUMENT, "");
    return 0;
}

static int finalize (struct pmi *pmi, struct pmi_task *task,
                     const struct pmi_message *msg, struct error *err)
{
    (void)msg;
    if (task->fencing)
        return error_set (err, EPROTO, "finalize in a barrier");
    task->phase = PMI_FINALIZED;
    answer (pmi, task, "finalize_ack", PMI_RC_OK, "");
    return 0;
}

/* No reply: the client waits to be ended. */
static int abort_step (struct pmi *pmi, struct pmi_task *task,
                       const struct pmi_message *msg, struct error *err)
{
    (void)err;
    pmi_abort (pmi, task, pmi_number (msg, "exitcode", 1), pmi_text (msg, "message", ""));
    return 0;
}

static const struct {
    const char *name;
    int (*run) (struct pmi *, struct pmi_task *, const struct pmi_message *,
                struct error *);
    /* run NULL: the same reply at all times */
    const char *reply;
    enum pmi_rc rc;
    const char *fields;
} commands[] = {
    { .name = "init", .run = init },
    { .name = "get_maxes", .run = get_maxes },
    { .name = "get_appnum", .reply = "appnum", .rc = PMI_RC_OK, .fields = " appnum=0" },
    { .name = "get_my_kvsname", .run = get_my_kvsname },
    { .name = "get_universe_size", .run = get_universe_size },
    { .name = "put", .run = put },
    { .name = "get", .run = get },
    { .name = "getbyidx", .run = getbyidx },
    { .name = "barrier_in", .run = barrier_in },
    { .name = "finalize", .run = finalize },
    { .name = "abort", .run = abort_step },
    { .name = "create_kvs", .reply = "newkvs", .rc = PMI_RC_FAIL, .fields = "" },
    { .name = "destroy_kvs", .reply = "kvs_destroyed", .rc = PMI_RC_FAIL, .fields = "" },
    /* info: the field that Slurm's clients read */
    { .name = "publish_name",
      .reply = "publish_result",
      .rc = PMI_RC_FAIL,
      .fields = " info=fail" },
    { .name = "unpublish_name",
      .reply = "unpublish_result",
      .rc = PMI_RC_FAIL,
      .fields = " info=fail" },
    { .name = "lookup_name",
      .reply = "lookup_result",
      .rc = PMI_RC_FAIL,
      .fields = " info=fail" },
};

/* Handles a line of mcmd=spawn. There is one reply for all programs to be spawned
 * together. */
static void spawn_line (struct pmi *pmi, struct pmi_task *task,
                        const struct pmi_message *msg)
{
    task->spawns_total = pmi_number (msg, "totspawns", task->spawns_total);
    if (!pmi_field (msg, "endcmd"))
        return;
    task->spawning = false;
    if (++task->spawns < task->spawns_total)
        return;
    task->spawns = 0;
    answer (pmi, task, "spawn_result", PMI_RC_FAIL, "");
}

static int run (struct pmi *pmi, struct pmi_task *task, const struct pmi_message *msg,
                struct error *err)
{
    const char *name = pmi_text (msg, "cmd", "");

    for (size_t i = 0; i < ARRAY_SIZE (commands); i++) {
        if (strcmp (name, commands[i].name) != 0)
            continue;
        if (task->phase != PMI_READY && commands[i].run != init)
            return error_set (err, EPROTO, "%s before init", name);
        if (commands[i].run)
            return commands[i].run (pmi, task, msg, err);
        answer (pmi, task, commands[i].reply, commands[i].rc, commands[i].fields);
        return 0;
    }
    return error_set (err, EPROTO, "'%.64s' is not a command of PMI-1", name);
}

int pmi1_command (struct pmi *pmi, struct pmi_task *task, char *data, size_t len,
                  struct error *err)
{
    struct pmi_message msg;

    data[len - 1] = '\0';
    parse (data, &msg);
    if (msg.n == 0)
        return 0;
    if (strcmp (pmi_text (&msg, "mcmd", ""), "spawn") == 0 && task->phase == PMI_READY) {
        task->spawning = true;
        task->spawns_total = 1;
    }
    if (task->spawning) {
        spawn_line (pmi, task, &msg);
        return 0;
    }
    return run (pmi, task, &msg, err);
}
