/* pmi2.c - PMI version 2.0, after a line that announces it (pmi1.c)
 *
 * A command is its length in six characters, then NAME=VALUE; any number of times. A ';'
 * in a value is doubled.
 *
 *     "    37cmd=kvs-put;key=card-3;value=10.0.0.7;"
 *     "    31cmd=kvs-put-response;rc=0;"
 *
 * A client with several threads names the thread in "thrid", which the reply repeats. */
#include "shell/pmi/pmi_private.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#define LENGTH_SIZE 6
#define NAME_MAX_LEN 32 /* name of a command that gets a reply */

/* Parts of a command. */

/* Returns the length, which is anywhere in six characters among blanks; or -1. */
static long length_of (const char *head)
{
    long n = -1;
    size_t i = strspn (head, " ");

    for (; head[i] >= '0' && head[i] <= '9'; i++)
        n = MAX (n, 0) * 10 + (head[i] - '0');
    i += strspn (head + i, " ");
    return i == LENGTH_SIZE ? n : -1;
}

ssize_t pmi2_length (const char *data, size_t avail, struct error *err)
{
    char head[LENGTH_SIZE + 1] = { 0 };

    if (avail < LENGTH_SIZE)
        return 0;
    memcpy (head, data, LENGTH_SIZE);
    long n = strlen (head) == LENGTH_SIZE ? length_of (head) : -1;
    if (n < 1 || n > PMI_COMMAND_MAX)
        return error_set (err, EPROTO,
                          "'%s' is not a length of a command of PMI-2, 1 to %d", head,
                          PMI_COMMAND_MAX);
    if (avail < LENGTH_SIZE + (size_t)n)
        return 0;
    return LENGTH_SIZE + n;
}

/* Terminates the value at p and replaces each ';;' by ';', in place. Returns the position
 * behind it, or NULL if the value does not end before end. */
static char *take_value (char *p, const char *end, size_t *ret_len)
{
    char *out = p, *begin = p;

    for (; p < end; *out++ = *p++) {
        if (*p != ';')
            continue;
        if (p + 1 < end && p[1] == ';') {
            p++;
            continue;
        }
        *out = '\0';
        *ret_len = (size_t)(out - begin);
        return p + 1;
    }
    return NULL;
}

static int parse (char *data, size_t len, struct pmi_message *ret, struct error *err)
{
    const char *end = data + len;

    ret->n = 0;
    if (memchr (data, '\0', len))
        return error_set (err, EPROTO, "a NUL in a command");
    while (data < end && ret->n < PMI_FIELDS_MAX) {
        struct pmi_field *field = &ret->fields[ret->n++];
        char *equals = memchr (data, '=', (size_t)(end - data));
        if (!equals)
            return error_set (err, EPROTO,
                              "a command of PMI-2 with a field without value");
        *equals = '\0';
        field->name = data;
        field->value = equals + 1;
        data = take_value (equals + 1, end, &field->len);
        if (!data)
            return error_set (err, EPROTO, "a PMI-2 command does not end in ';'");
    }
    return 0;
}

/* Replies. */

static void begin (struct pmi_reply *reply, const char *cmd, const char *thrid,
                   enum pmi_rc rc)
{
    reply->len = 0;
    pmi_reply_addf (reply, "%*scmd=%s-response;", LENGTH_SIZE, "", cmd);
    if (*thrid)
        pmi_reply_addf (reply, "thrid=%s;", thrid);
    pmi_reply_addf (reply, "rc=%d;", (int)rc);
    if (rc != PMI_RC_OK)
        pmi_reply_addf (reply, "errmsg=%s;", pmi_rc_text (rc));
}

static void add_value (struct pmi_reply *reply, const char *value)
{
    pmi_reply_addf (reply, "value=");
    for (const char *p = value; *p; p++) {
        if (*p == ';')
            pmi_reply_add (reply, ";", 1);
        pmi_reply_add (reply, p, 1);
    }
    pmi_reply_addf (reply, ";");
}

static void send_reply (struct pmi *pmi, const struct pmi_task *task,
                        struct pmi_reply *reply)
{
    char head[LENGTH_SIZE + 1];

    snprintf (head, sizeof (head), "%*zu", LENGTH_SIZE,
              (reply->len - LENGTH_SIZE) % 1000000);
    memcpy (reply->text, head, LENGTH_SIZE);
    pmi_send (pmi, task, reply->text, reply->len);
}

static const char *thrid_of (const struct pmi_message *msg)
{
    return pmi_text (msg, "thrid", "");
}

static void answer (struct pmi *pmi, const struct pmi_task *task, const char *cmd,
                    const char *thrid, enum pmi_rc rc)
{
    struct pmi_reply reply;

    begin (&reply, cmd, thrid, rc);
    send_reply (pmi, task, &reply);
}

/* Replies found with this value, or not found (NULL). */
static void answer_value (struct pmi *pmi, const struct pmi_task *task, const char *cmd,
                          const char *thrid, const char *value)
{
    struct pmi_reply reply;

    begin (&reply, cmd, thrid, PMI_RC_OK);
    pmi_reply_addf (&reply, "found=%s;", value ? "TRUE" : "FALSE");
    if (value)
        add_value (&reply, value);
    send_reply (pmi, task, &reply);
}

void pmi2_fenced (struct pmi *pmi, struct pmi_task *task, enum pmi_rc rc)
{
    answer (pmi, task, "kvs-fence", task->fence_thrid, rc);
}

/* Commands. Each returns 0, or a negative errno to close the connection. */

static int fullinit (struct pmi *pmi, struct pmi_task *task,
                     const struct pmi_message *msg, struct error *err)
{
    struct pmi_reply reply;

    (void)err;
    if (task->phase != PMI_GREETED) {
        answer (pmi, task, "fullinit", thrid_of (msg), PMI_RC_INIT);
        return 0;
    }
    task->phase = PMI_READY;
    begin (&reply, "fullinit", thrid_of (msg), PMI_RC_OK);
    pmi_reply_addf (&reply,
                    "pmi-version=2;pmi-subversion=0;rank=%" PRIu32 ";size=%" PRIu32
                    ";appnum=0;debugged=FALSE;pmiverbose=FALSE;",
                    pmi_rank (pmi, task), pmi->ntasks);
    send_reply (pmi, task, &reply);
    return 0;
}

static int finalize (struct pmi *pmi, struct pmi_task *task,
                     const struct pmi_message *msg, struct error *err)
{
    if (task->fencing || task->nwaits > 0)
        return error_set (err, EPROTO, "finalize in a fence or while it waits");
    task->phase = PMI_FINALIZED;
    answer (pmi, task, "finalize", thrid_of (msg), PMI_RC_OK);
    return 0;
}

/* No reply: the client exits or waits to be ended. isworld=FALSE: ends only the client
 * itself. */
static int abort_step (struct pmi *pmi, struct pmi_task *task,
                       const struct pmi_message *msg, struct error *err)
{
    (void)err;
    if (strcmp (pmi_text (msg, "isworld", "TRUE"), "FALSE") != 0)
        pmi_abort (pmi, task, pmi_number (msg, "exitcode", 1),
                   pmi_text (msg, "msg", pmi_text (msg, "message", "")));
    return 0;
}

static int job_getid (struct pmi *pmi, struct pmi_task *task,
                      const struct pmi_message *msg, struct error *err)
{
    struct pmi_reply reply;

    (void)err;
    begin (&reply, "job-getid", thrid_of (msg), PMI_RC_OK);
    pmi_reply_addf (&reply, "jobid=%s;", pmi->jobid);
    send_reply (pmi, task, &reply);
    return 0;
}

static int put (struct pmi *pmi, struct pmi_task *task, const struct pmi_message *msg,
                struct error *err)
{
    (void)err;
    answer (pmi, task, "kvs-put", thrid_of (msg), pmi_put (pmi, msg));
    return 0;
}

static int get (struct pmi *pmi, struct pmi_task *task, const struct pmi_message *msg,
                struct error *err)
{
    const struct pmi_field *key = pmi_field (msg, "key");
    const char *jobid = pmi_text (msg, "jobid", "");

    (void)err;
    if (!key || (*jobid && strcmp (jobid, pmi->jobid) != 0))
        answer (pmi, task, "kvs-get", thrid_of (msg), PMI_RC_ARGUMENT);
    else
        answer_value (pmi, task, "kvs-get", thrid_of (msg),
                      pmi_get (pmi, key->value, key->len));
    return 0;
}

static int fence (struct pmi *pmi, struct pmi_task *task, const struct pmi_message *msg,
                  struct error *err)
{
    if (!task->fencing)
        snprintf (task->fence_thrid, sizeof (task->fence_thrid), "%s", thrid_of (msg));
    return pmi_fence (pmi, task, err);
}

/* Only this module sets attributes of the job. */
static int get_job_attr (struct pmi *pmi, struct pmi_task *task,
                         const struct pmi_message *msg, struct error *err)
{
    const char *key = pmi_text (msg, "key", "");
    const char *value = NULL;
    char size[16];

    (void)err;
    if (strcmp (key, "PMI_process_mapping") == 0) {
        value = pmi->mapping;
    } else if (strcmp (key, "universeSize") == 0) {
        snprintf (size, sizeof (size), "%" PRIu32, pmi->ntasks);
        value = size;
    } else if (strcmp (key, "hasNameServ") == 0) {
        value = "FALSE";
    }
    answer_value (pmi, task, "info-getjobattr", thrid_of (msg), value);
    return 0;
}

/* Answers the tasks that wait for that key. */
static void wake (struct pmi *pmi, const char *key, const char *value)
{
    struct pmi_wait **link = &pmi->waits;

    while (*link) {
        struct pmi_wait *wait = *link;
        if (strcmp (wait->key, key) != 0) {
            link = &wait->next;
            continue;
        }
        *link = wait->next;
        wait->task->nwaits--;
        answer_value (pmi, wait->task, "info-getnodeattr", wait->thrid, value);
        free (wait);
    }
}

static int put_node_attr (struct pmi *pmi, struct pmi_task *task,
                          const struct pmi_message *msg, struct error *err)
{
    const struct pmi_field *key = pmi_field (msg, "key");
    const struct pmi_field *value = pmi_field (msg, "value");
    enum pmi_rc rc = PMI_RC_ARGUMENT;

    (void)err;
    if (key && value)
        rc = pmi_put_into (pmi->attrs, key, value);
    answer (pmi, task, "info-putnodeattr", thrid_of (msg), rc);
    if (rc == PMI_RC_OK)
        wake (pmi, key->value, value->value);
    return 0;
}

/* Registers a request that is answered once the attribute is put. */
static enum pmi_rc wait_for (struct pmi *pmi, struct pmi_task *task,
                             const struct pmi_field *key, const char *thrid)
{
    if (key->len > KVS_KEY_MAX)
        return PMI_RC_KEY_LENGTH;
    if (task->nwaits >= PMI_WAITS_MAX)
        return PMI_RC_NO_MEMORY;
    struct pmi_wait *wait = calloc (1, sizeof (*wait));
    if (!wait)
        return PMI_RC_NO_MEMORY;
    wait->task = task;
    snprintf (wait->key, sizeof (wait->key), "%s", key->value);
    snprintf (wait->thrid, sizeof (wait->thrid), "%s", thrid);
    wait->next = pmi->waits;
    pmi->waits = wait;
    task->nwaits++;
    return PMI_RC_OK;
}

static int get_node_attr (struct pmi *pmi, struct pmi_task *task,
                          const struct pmi_message *msg, struct error *err)
{
    const struct pmi_field *key = pmi_field (msg, "key");
    bool patient = strcmp (pmi_text (msg, "wait", "FALSE"), "TRUE") == 0;
    enum pmi_rc rc = PMI_RC_ARGUMENT;

    (void)err;
    if (key) {
        const struct kvs_pair *pair = kvs_get (pmi->attrs, key->value, key->len);
        if (pair || !patient) {
            answer_value (pmi, task, "info-getnodeattr", thrid_of (msg),
                          pair ? kvs_value (pair) : NULL);
            return 0;
        }
        rc = wait_for (pmi, task, key, thrid_of (msg));
    }
    if (rc != PMI_RC_OK)
        answer (pmi, task, "info-getnodeattr", thrid_of (msg), rc);
    return 0;
}

/* Commands that are not in the table get the same reply, that they failed: name-publish,
 * name-lookup, name-unpublish, spawn, job-connect, job-disconnect and unknown ones. */
static const struct {
    const char *name;
    int (*run) (struct pmi *, struct pmi_task *, const struct pmi_message *,
                struct error *);
    bool early; /* allowed before fullinit */
} commands[] = {
    { "fullinit", fullinit, true },
    { "finalize", finalize, false },
    { "abort", abort_step, true },
    { "job-getid", job_getid, false },
    { "kvs-put", put, false },
    { "kvs-get", get, false },
    { "kvs-fence", fence, false },
    { "info-getjobattr", get_job_attr, false },
    { "info-getnodeattr", get_node_attr, false },
    { "info-putnodeattr", put_node_attr, false },
};

static bool can_answer (const char *name)
{
    size_t len = strlen (name);

    return len > 0 && len <= NAME_MAX_LEN
           && strspn (name, "abcdefghijklmnopqrstuvwxyz-") == len;
}

int pmi2_command (struct pmi *pmi, struct pmi_task *task, char *data, size_t len,
                  struct error *err)
{
    struct pmi_message msg;
    int rc = parse (data + LENGTH_SIZE, len - LENGTH_SIZE, &msg, err);

    if (rc < 0)
        return rc;
    const char *name = pmi_text (&msg, "cmd", "");
    const char *thrid = thrid_of (&msg);
    if (!can_answer (name) || strlen (thrid) >= PMI_THRID_MAX || strchr (thrid, ';'))
        return error_set (err, EPROTO,
                          "'%.64s', thread '%.64s', is not a command of PMI-2", name,
                          thrid);
    for (size_t i = 0; i < ARRAY_SIZE (commands); i++) {
        if (strcmp (name, commands[i].name) != 0)
            continue;
        if (task->phase == PMI_READY || commands[i].early)
            return commands[i].run (pmi, task, &msg, err);
        answer (pmi, task, name, thrid, PMI_RC_INIT);
        return 0;
    }
    answer (pmi, task, name, thrid, PMI_RC_FAIL);
    return 0;
}
