/* pmi.c - the tasks, the fence, and the parts that both PMI versions share, see pmi.h */
#include "shell/pmi/pmi_private.h"

#include <inttypes.h>
#include <limits.h>

#include "common/parse.h"

#define IN_MAX (PMI_COMMAND_MAX + 8) /* a command and its length */

/* Fields of messages. */

const struct pmi_field *pmi_field (const struct pmi_message *msg, const char *name)
{
    for (size_t i = 0; i < msg->n; i++)
        if (strcmp (msg->fields[i].name, name) == 0)
            return &msg->fields[i];
    return NULL;
}

const char *pmi_text (const struct pmi_message *msg, const char *name, const char *other)
{
    const struct pmi_field *field = pmi_field (msg, name);

    return field ? field->value : other;
}

int64_t pmi_number (const struct pmi_message *msg, const char *name, int64_t other)
{
    const char *text = pmi_text (msg, name, "");
    int64_t n;

    return parse_int (text, INT32_MIN, INT32_MAX, &n, name, NULL) == 0 ? n : other;
}

/* Replies. */

void pmi_reply_add (struct pmi_reply *reply, const char *text, size_t len)
{
    len = MIN (len, sizeof (reply->text) - reply->len);
    memcpy (reply->text + reply->len, text, len);
    reply->len += len;
}

void pmi_reply_addf (struct pmi_reply *reply, const char *fmt, ...)
{
    size_t room = sizeof (reply->text) - reply->len;
    va_list ap;

    va_start (ap, fmt);
    int n = vsnprintf (reply->text + reply->len, room, fmt, ap);
    va_end (ap);
    if (n > 0)
        reply->len += MIN ((size_t)n, room - 1);
}

static uint32_t local_of (const struct pmi *pmi, const struct pmi_task *task)
{
    return (uint32_t)(task - pmi->tasks);
}

uint32_t pmi_rank (const struct pmi *pmi, const struct pmi_task *task)
{
    return pmi->global[local_of (pmi, task)];
}

void pmi_send (struct pmi *pmi, const struct pmi_task *task, const char *data, size_t len)
{
    if (!task->closed)
        pmi->events.send (pmi->ctx, local_of (pmi, task), data, len);
}

const char *pmi_rc_text (enum pmi_rc rc)
{
    static const char *const texts[] = {
        [PMI_RC_OK] = "success",
        [PMI_RC_INIT] = "not_the_time_for_this_command",
        [PMI_RC_NO_MEMORY] = "the_job's_memory_for_keys_and_values_is_full",
        [PMI_RC_ARGUMENT] = "an_argument_is_missing_or_wrong",
        [PMI_RC_KEY] = "no_such_key",
        [PMI_RC_KEY_LENGTH] = "the_key_is_empty_or_longer_than_64_bytes",
        [PMI_RC_VALUE] = "the_value_cannot_be_told_in_this_version",
        [PMI_RC_VALUE_LENGTH] = "the_value_is_longer_than_1024_bytes",
    };

    return rc == PMI_RC_FAIL ? "failed" : texts[rc];
}

/* Keys and values. */

enum pmi_rc pmi_put_into (struct kvs *kvs, const struct pmi_field *key,
                          const struct pmi_field *value)
{
    switch (kvs_put (kvs, key->value, key->len, value->value, value->len)) {
    case 0:
        return PMI_RC_OK;
    case -ENAMETOOLONG:
        return PMI_RC_KEY_LENGTH;
    case -EMSGSIZE:
        return PMI_RC_VALUE_LENGTH;
    default:
        return PMI_RC_NO_MEMORY;
    }
}

enum pmi_rc pmi_put (struct pmi *pmi, const struct pmi_message *msg)
{
    const struct pmi_field *key = pmi_field (msg, "key");
    const struct pmi_field *value = pmi_field (msg, "value");

    return key && value ? pmi_put_into (pmi->kvs, key, value) : PMI_RC_ARGUMENT;
}

const char *pmi_get (const struct pmi *pmi, const char *key, size_t len)
{
    const struct kvs_pair *pair = kvs_get (pmi->kvs, key, len);

    if (strcmp (key, "PMI_process_mapping") == 0)
        return pmi->mapping;
    return pair ? kvs_value (pair) : NULL;
}

/* The fence. */

static void end_fence (struct pmi *pmi, enum pmi_rc rc)
{
    pmi->exchanging = false;
    pmi->nfencing = 0;
    for (uint32_t i = 0; i < pmi->nlocal; i++) {
        struct pmi_task *task = &pmi->tasks[i];
        if (!task->fencing)
            continue;
        task->fencing = false;
        if (task->version == 1)
            pmi1_fenced (pmi, task, rc);
        else
            pmi2_fenced (pmi, task, rc);
    }
}

/* Whether a task has closed outside of the fence. */
static bool cannot_complete (const struct pmi *pmi)
{
    for (uint32_t i = 0; i < pmi->nlocal; i++)
        if (pmi->tasks[i].closed && !pmi->tasks[i].fencing)
            return true;
    return false;
}

/* All tasks have entered; last entered last. Without memory the step ends, as the other
 * ranks would wait forever. */
static void all_are_in (struct pmi *pmi, struct pmi_task *last)
{
    autostrbuf struct strbuf changes = STRBUF_INIT (PMI_KVS_MAX);

    if (kvs_pack (pmi->kvs, &changes) < 0) {
        end_fence (pmi, PMI_RC_NO_MEMORY);
        pmi_abort (pmi, last, 1,
                   "no memory for what the tasks of a node put into the KVS");
    } else {
        pmi->exchanging = true;
        pmi->events.exchange (pmi->ctx, changes.buf, changes.len);
    }
}

int pmi_fence (struct pmi *pmi, struct pmi_task *task, struct error *err)
{
    if (task->fencing)
        return error_set (err, EPROTO, "a fence while it is in the fence");
    task->fencing = true;
    pmi->nfencing++;
    if (pmi->nfencing == pmi->nlocal)
        all_are_in (pmi, task);
    else if (cannot_complete (pmi))
        end_fence (pmi, PMI_RC_FAIL);
    return 0;
}

int pmi_exchanged (struct pmi *pmi, const char *data, size_t len, struct error *err)
{
    if (!pmi->exchanging)
        return error_set (err, EPROTO, "%zu bytes of a fence in which no task is", len);
    int rc = kvs_merge (pmi->kvs, data, len, err);
    end_fence (pmi, rc == 0 ? PMI_RC_OK : rc == -EPROTO ? PMI_RC_FAIL : PMI_RC_NO_MEMORY);
    return rc;
}

void pmi_abort (struct pmi *pmi, struct pmi_task *task, int64_t code, const char *text)
{
    char plain[PMI_ABORT_TEXT_MAX];
    int status = (int)(code & 0xff);

    if (task->aborted)
        return;
    task->aborted = true;
    snprintf (plain, sizeof (plain), "%s", text);
    for (char *p = plain; *p; p++)
        if ((unsigned char)*p < ' ' || *p == 0x7f)
            *p = '?';
    pmi->events.aborted (pmi->ctx, local_of (pmi, task), status ? status : 1, plain);
}

/* Commands. */

static void forget_waits (struct pmi *pmi, const struct pmi_task *task)
{
    struct pmi_wait **link = &pmi->waits;

    while (*link) {
        struct pmi_wait *wait = *link;
        if (wait->task == task) {
            *link = wait->next;
            free (wait);
        } else {
            link = &wait->next;
        }
    }
}

void pmi_closed (struct pmi *pmi, uint32_t local)
{
    struct pmi_task *task = &pmi->tasks[local];

    if (task->closed)
        return;
    task->closed = true;
    strbuf_release (&task->in);
    forget_waits (pmi, task);
    if (!task->fencing && pmi->nfencing > 0)
        end_fence (pmi, PMI_RC_FAIL);
}

bool pmi_is_unfinished (const struct pmi *pmi, uint32_t local)
{
    enum pmi_phase phase = pmi->tasks[local].phase;

    return phase == PMI_GREETED || phase == PMI_READY;
}

bool pmi_is_new (const struct pmi *pmi, uint32_t local)
{
    return pmi->tasks[local].phase == PMI_NEW;
}

/* The first command is a line as in PMI-1, even if the task will use PMI-2. */
static bool in_lines (const struct pmi_task *task)
{
    return task->version == 1 || task->phase == PMI_NEW || task->phase == PMI_FINALIZED;
}

/* Carries out the complete commands in the task's buffer. */
static int consume (struct pmi *pmi, struct pmi_task *task, struct error *err)
{
    size_t done = 0;
    int rc = 0;

    while (rc == 0 && done < task->in.len) {
        bool lines = in_lines (task);
        char *data = task->in.buf + done;
        size_t avail = task->in.len - done;
        ssize_t n =
            lines ? pmi1_length (data, avail, err) : pmi2_length (data, avail, err);
        if (n <= 0) {
            rc = (int)n;
            break;
        }
        rc = lines ? pmi1_command (pmi, task, data, (size_t)n, err)
                   : pmi2_command (pmi, task, data, (size_t)n, err);
        done += (size_t)n;
    }
    if (done == task->in.len)
        strbuf_release (&task->in);
    else
        strbuf_consume (&task->in, done);
    return rc;
}

int pmi_receive (struct pmi *pmi, uint32_t local, const char *data, size_t len,
                 struct error *err)
{
    struct pmi_task *task = &pmi->tasks[local];
    int rc = 0;

    if (task->closed)
        return error_set (err, EPIPE, "task %" PRIu32 ": its PMI connection is closed",
                          pmi->global[local]);
    while (len > 0 && rc == 0) {
        size_t n = MIN (len, IN_MAX - task->in.len);
        if (strbuf_add (&task->in, data, n) < 0)
            rc = error_errno (err, ENOMEM, "its command");
        else
            rc = consume (pmi, task, err);
        data += n;
        len -= n;
    }
    if (rc < 0) {
        error_prefix (err, "PMI of task %" PRIu32, pmi->global[local]);
        pmi_closed (pmi, local);
    }
    return rc;
}

/* Beginning and end. */

static bool is_name (const char *text)
{
    size_t len = text ? strlen (text) : 0;

    return len > 0 && len <= PMI_NAME_MAX
           && strspn (text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                            "0123456789._-")
                  == len;
}

static int check_config (const struct pmi_config *c, struct error *err)
{
    if (!is_name (c->jobid))
        return error_set (err, EINVAL,
                          "PMI: '%s' is not a name for a job: 1 to %d letters, "
                          "digits, '.', '_' and '-'",
                          c->jobid ? c->jobid : "", PMI_NAME_MAX);
    if (c->nlocal == 0 || c->nlocal > c->ntasks || c->ntasks > INT32_MAX)
        return error_set (err, EINVAL,
                          "PMI: %" PRIu32 " tasks here, %" PRIu32 " in the step",
                          c->nlocal, c->ntasks);
    for (uint32_t i = 0; i < c->nlocal; i++)
        if (c->global[i] >= c->ntasks)
            return error_set (err, EINVAL,
                              "PMI: there is no task %" PRIu32 " in a step of "
                              "%" PRIu32,
                              c->global[i], c->ntasks);
    for (uint32_t i = 0; i < c->ntasks; i++)
        if (c->node_of[i] >= c->nnodes)
            return error_set (err, EINVAL,
                              "PMI: task %" PRIu32 " is on node %" PRIu32 " of %" PRIu32,
                              i, c->node_of[i], c->nnodes);
    return 0;
}

/* Puts "0,2,5" for the node attribute localRanks, if a value can be that long. */
static int put_local_ranks (struct pmi *pmi)
{
    autostrbuf struct strbuf sb = STRBUF_INIT (KVS_VALUE_MAX);
    char count[16];
    int n = snprintf (count, sizeof (count), "%" PRIu32, pmi->nlocal);
    int rc = kvs_put (pmi->attrs, "localRanksCount", 15, count, (size_t)n);

    for (uint32_t i = 0; i < pmi->nlocal && !sb.err; i++)
        strbuf_addf (&sb, "%s%" PRIu32, i ? "," : "", pmi->global[i]);
    if (rc == 0 && !sb.err)
        rc = kvs_put (pmi->attrs, "localRanks", 10, sb.buf, sb.len);
    else if (rc == 0 && sb.err != -E2BIG)
        rc = sb.err;
    return rc;
}

static int fill (struct pmi *pmi, const struct pmi_config *config)
{
    struct strbuf mapping = STRBUF_INIT (PMI_MAPPING_MAX);

    snprintf (pmi->jobid, sizeof (pmi->jobid), "%s", config->jobid);
    pmi->ntasks = config->ntasks;
    pmi->nlocal = config->nlocal;
    pmi->tasks = calloc (config->nlocal, sizeof (*pmi->tasks));
    pmi->global = calloc (config->nlocal, sizeof (*pmi->global));
    pmi->kvs = kvs_create (PMI_KVS_MAX);
    pmi->attrs = kvs_create (PMI_ATTRS_MAX);
    if (!pmi->tasks || !pmi->global || !pmi->kvs || !pmi->attrs)
        return -ENOMEM;
    for (uint32_t i = 0; i < config->nlocal; i++) {
        strbuf_init (&pmi->tasks[i].in, IN_MAX);
        pmi->global[i] = config->global[i];
    }
    int rc = pmi_mapping (config->node_of, config->ntasks, &mapping);
    if (rc > 0) {
        pmi->mapping = strbuf_detach (&mapping);
        rc = pmi->mapping ? 0 : -ENOMEM;
    }
    strbuf_release (&mapping);
    return rc < 0 ? rc : put_local_ranks (pmi);
}

struct pmi *pmi_create (const struct pmi_config *config, const struct pmi_events *events,
                        void *ctx, struct error *err)
{
    if (check_config (config, err) < 0)
        return NULL;
    struct pmi *pmi = calloc (1, sizeof (*pmi));
    if (pmi) {
        pmi->events = *events;
        pmi->ctx = ctx;
        if (fill (pmi, config) == 0)
            return pmi;
    }
    error_errno (err, ENOMEM, "PMI of a step of %" PRIu32 " tasks", config->ntasks);
    pmi_destroy (pmi);
    return NULL;
}

void pmi_destroy (struct pmi *pmi)
{
    if (!pmi)
        return;
    while (pmi->waits) {
        struct pmi_wait *wait = pmi->waits;
        pmi->waits = wait->next;
        free (wait);
    }
    for (uint32_t i = 0; pmi->tasks && i < pmi->nlocal; i++)
        strbuf_release (&pmi->tasks[i].in);
    kvs_destroy (pmi->kvs);
    kvs_destroy (pmi->attrs);
    free (pmi->mapping);
    free (pmi->global);
    free (pmi->tasks);
    free (pmi);
}

int pmi_environment (const struct pmi_config *config, uint32_t local, int fd,
                     int (*set) (void *ctx, const char *name, const char *value),
                     void *ctx)
{
    const struct {
        const char *name;
        int64_t value;
    } numbers[] = {
        { "PMI_FD", fd },
        { "PMI_RANK", config->global[local] },
        { "PMI_SIZE", config->ntasks },
        { "PMI_SPAWNED", 0 },
    };
    int rc = set (ctx, "PMI_JOBID", config->jobid);

    for (size_t i = 0; i < ARRAY_SIZE (numbers) && rc == 0; i++) {
        char text[24];
        snprintf (text, sizeof (text), "%" PRId64, numbers[i].value);
        rc = set (ctx, numbers[i].name, text);
    }
    return rc;
}
