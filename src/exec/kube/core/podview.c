/* podview.c - see podview.h */
#include "exec/kube/core/podview.h"

#include <ctype.h>
#include <strings.h>

#include "common/json.h"
#include "common/parse.h"
#include "exec/kube/core/names.h"
#include "kube/object.h"
#include "protocol/agent_api.h"

#define INDEX_KEY "batch.kubernetes.io/job-completion-index"

static const struct reason {
    const char *reason;
    enum pod_trouble trouble;
    enum pod_blame blame;
} reasons[] = {
    /* of the pod: the kubelet did not admit it (another scheduler was faster; see also
     * lost_race), or evicted it */
    { "NodeAffinity", POD_RETRY, POD_BLAME_NOBODY },
    { "TopologyAffinityError", POD_RETRY, POD_BLAME_CHANCE }, /* avoid this node */
    { "NodeShutdown", POD_RETRY, POD_BLAME_CHANCE },
    { "NodeLost", POD_RETRY, POD_BLAME_CHANCE },
    { "Evicted", POD_RETRY, POD_BLAME_NOBODY },
    { "Terminated", POD_RETRY, POD_BLAME_CHANCE },
    { "Preempting", POD_RETRY, POD_BLAME_NOBODY },
    { "UnexpectedAdmissionError", POD_RETRY, POD_BLAME_NODE },
    { "DeadlineExceeded", POD_RETRY, POD_BLAME_NOBODY },
    /* of a waiting container */
    { "InvalidImageName", POD_FATAL, POD_BLAME_NOBODY },
    { "ErrImageNeverPull", POD_FATAL, POD_BLAME_NOBODY },
    { "ErrImagePull", POD_WAITING, POD_BLAME_NOBODY },
    { "ImagePullBackOff", POD_WAITING, POD_BLAME_NOBODY },
    { "ImageInspectError", POD_WAITING, POD_BLAME_NOBODY },
    { "RegistryUnavailable", POD_WAITING, POD_BLAME_NOBODY },
    { "CreateContainerConfigError", POD_WAITING, POD_BLAME_NOBODY },
    { "CreateContainerError", POD_WAITING, POD_BLAME_NOBODY },
    { "RunContainerError", POD_WAITING, POD_BLAME_NOBODY },
    { "CreatePodSandboxError", POD_WAITING, POD_BLAME_NODE },
};

/* Words of a registry after which another try is useless. */
static const char *const final_words[] = {
    "not found",         "manifest unknown", "name unknown",         "pull access denied",
    "unauthorized",      "403 forbidden",    "authorization failed", "no basic auth",
    "invalid reference",
};
/* ... unless the registry itself was not found. */
static const char *const passing_words[] = {
    "no such host",       "timeout",
    "connection refused", "temporary failure",
    "server misbehaving", "network is unreachable"
};

static bool has_word (const char *text, const char *const words[], size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (strcasestr (text, words[i]))
            return true;
    return false;
}

static bool is_pull (const char *reason)
{
    return strstr (reason, "Image") != NULL;
}

static const struct reason *find_reason (const char *reason)
{
    /* "OutOf" any resource. The next attempt knows what the node really has left. */
    static const struct reason lost_race = { "OutOf", POD_RETRY, POD_BLAME_NOBODY };
    static const struct reason unknown = { "", POD_FINE, POD_BLAME_CHANCE };

    for (size_t i = 0; i < ARRAY_SIZE (reasons); i++)
        if (strcmp (reasons[i].reason, reason) == 0)
            return &reasons[i];
    return strncmp (reason, lost_race.reason, 5) == 0 ? &lost_race : &unknown;
}

/* Classifies the reason and message in the status of a pod or of a waiting container. */
static enum pod_trouble classify (const char *reason, const char *message)
{
    enum pod_trouble t = find_reason (reason)->trouble;

    if (t == POD_WAITING && is_pull (reason)
        && has_word (message, final_words, ARRAY_SIZE (final_words))
        && !has_word (message, passing_words, ARRAY_SIZE (passing_words)))
        return POD_FATAL;
    return t;
}

static int read_index (const json_t *meta)
{
    const char *s = json_text (json_object_get (meta, "labels"), INDEX_KEY);
    int64_t n;

    if (!s[0])
        s = json_text (json_object_get (meta, "annotations"), INDEX_KEY);
    return parse_int (s, 0, INT32_MAX, &n, "index", NULL) < 0 ? -1 : (int)n;
}

static int read_component (const json_t *meta)
{
    const char *s = json_text (json_object_get (meta, "labels"), LABEL_COMPONENT);
    int64_t n = 0;

    return *s && parse_int (s, 0, UINT16_MAX, &n, "component", NULL) < 0 ? -1 : (int)n;
}

static void clean (char *text)
{
    for (char *p = text; *p; p++)
        if (iscntrl ((unsigned char)*p))
            *p = ' ';
}

/* The container could not be started, and cannot be on another node: its image or its
 * configuration is at fault, unless the runtime has gone meanwhile. */
static bool is_refused (const json_t *ended)
{
    static const char *const runtime_words[] = {
        "context canceled",
        "deadline exceeded",
        "ttrpc",
        "transport",
        "unavailable",
        "resource temporarily",
        "cannot allocate memory",
        "no space left",
    };
    const char *reason = json_text (ended, "reason");

    return (strcmp (reason, "StartError") == 0
            || strcmp (reason, "ContainerCannotRun") == 0)
           && !has_word (json_text (ended, "message"), runtime_words,
                         ARRAY_SIZE (runtime_words));
}

static void set_trouble (struct podview *v, enum pod_trouble trouble, const char *what,
                         const char *more)
{
    v->trouble = trouble;
    snprintf (v->text, sizeof (v->text), "%s%s%s", what, more[0] ? ": " : "", more);
    clean (v->text);
}

static void read_container (const json_t *status, struct podview *v)
{
    json_t *state = json_object_get (status, "state");
    json_t *waiting = json_object_get (state, "waiting");
    json_t *ended = json_object_get (state, "terminated");
    const char *reason = json_text (waiting, "reason"),
               *message = json_text (waiting, "message");

    if (json_object_get (state, "running"))
        v->started = true;
    if (ended) {
        char what[64];

        v->started = true;
        v->exit_code = (int)json_integer_value (json_object_get (ended, "exitCode"));
        v->oom = strcmp (json_text (ended, "reason"), "OOMKilled") == 0;
        snprintf (what, sizeof (what), "%s ended with status %d",
                  strcmp (json_text (status, "name"), POD_MAIN) == 0 ? "the agent"
                                                                     : "its container",
                  v->exit_code);
        set_trouble (v, v->exit_code == 0 ? POD_FINE : POD_RETRY,
                     v->oom ? "killed for want of memory" : what,
                     json_text (ended, "message"));
        /* Its process ran as the user, who can end it; or it could not be started, which
         * the user's image can cause. */
        v->blame = v->oom ? POD_BLAME_NOBODY : POD_BLAME_CHANCE;
        if (is_refused (ended)) {
            v->trouble = POD_FATAL;
            v->blame = POD_BLAME_NOBODY;
        }
    } else if (reason[0]) {
        enum pod_trouble t = classify (reason, message);

        v->pull_trouble = t != POD_FINE && is_pull (reason);
        v->creating = t == POD_FINE;
        if (v->creating) /* "ContainerCreating" is no trouble and says nothing more */
            return;
        v->blame = find_reason (reason)->blame;
        set_trouble (v, t, reason, message);
    }
}

/* Reads the condition that all evictors set: the eviction API (kubectl drain), a taint,
 * preemption, the kubelet for lack of a resource, a node that is gone. */
static void read_eviction (const json_t *status, struct podview *v)
{
    const char *reason = json_text (status, "reason"),
               *message = json_text (status, "message");
    const json_t *c = kube_condition (status, "DisruptionTarget");

    if (strcmp (json_text (c, "status"), "True") != 0)
        return;
    if (!v->terminal || !reason[0]) {
        reason = json_text (c, "reason");
        message = json_text (c, "message");
    }
    snprintf (v->evicted, sizeof (v->evicted), "%s%s%s",
              reason[0] ? reason : "no reason is known", message[0] ? ": " : "", message);
    clean (v->evicted);
}

/* Whether the node is as good as others for the next attempt, if it is still there. */
static bool is_for_another (const char *evicted)
{
    return strncmp (evicted, "PreemptionByScheduler", 21) == 0
           || strncmp (evicted, "EvictionByEvictionAPI", 21) == 0;
}

static void read_admin_text (struct podview *v, const char *message)
{
    snprintf (v->admin_text, sizeof (v->admin_text), "%s",
              message[0] ? message : "no reason is known");
    clean (v->admin_text);
}

/* An administrator's container has failed. One that was told to end, or whose watcher was
 * killed, says nothing about the node. */
static void read_admin (const json_t *ended, int code, bool prolog, struct podview *v)
{
    char what[64];

    if (code == ADMINRUN_FAILED) {
        v->prolog_failed |= prolog;
        v->epilog_failed |= !prolog;
        read_admin_text (v, json_text (ended, "message"));
    } else if (prolog) {
        snprintf (what, sizeof (what), "its prolog's container ended with status %d",
                  code);
        set_trouble (v, POD_RETRY, what, json_text (ended, "message"));
        v->blame = POD_BLAME_NODE;
    }
}

/* The container that brings the agent has failed. Its own message has the reason: a full
 * disk, or the wrong image. */
static void read_installer (const json_t *ended, int code, struct podview *v)
{
    bool fatal = code == INSTALL_REFUSED || is_refused (ended);
    char what[64];

    snprintf (what, sizeof (what), "the container that brings the agent: status %d",
              code);
    set_trouble (v, fatal ? POD_FATAL : POD_RETRY, what, json_text (ended, "message"));
    v->blame = fatal ? POD_BLAME_NOBODY : POD_BLAME_NODE;
}

/* The container of a Flux operator's pod that brings Flux has failed. */
static void read_other (const json_t *ended, int code, const char *name,
                        struct podview *v)
{
    char what[128];

    snprintf (what, sizeof (what), "its init container %.40s ended with status %d", name,
              code);
    set_trouble (v, is_refused (ended) ? POD_FATAL : POD_RETRY, what,
                 json_text (ended, "message"));
    v->blame = POD_BLAME_NOBODY;
}

/* Reads a container that runs before the job's own, or around it. */
static void read_init_container (const json_t *status, struct podview *v)
{
    const char *name = json_text (status, "name");
    json_t *state = json_object_get (status, "state");
    json_t *ended = json_object_get (state, "terminated");
    int code = (int)json_integer_value (json_object_get (ended, "exitCode"));
    bool prolog = strcmp (name, POD_PROLOG) == 0;

    if (json_object_get (state, "waiting"))
        read_container (status, v);
    else if (code == 0) /* or it has not ended */
        return;
    else if (strcmp (name, POD_AGENT) == 0)
        read_installer (ended, code, v);
    else if (prolog || strcmp (name, POD_EPILOG) == 0)
        read_admin (ended, code, prolog, v);
    else
        read_other (ended, code, name, v);
}

static void read_finalizers (const json_t *meta, struct podview *v)
{
    const json_t *item;
    size_t i;

    json_array_foreach (json_object_get (meta, "finalizers"), i, item) {
        const char *name = json_string_value (item);

        v->tracked |= name && strcmp (name, JOB_FINALIZER) == 0;
        if (name && (!v->finalizer[0] || strcmp (name, JOB_FINALIZER) != 0))
            snprintf (v->finalizer, sizeof (v->finalizer), "%s", name);
    }
    clean (v->finalizer);
}

/* Another scheduler has the pod, and no place for it. */
static void read_scheduled (const json_t *status, struct podview *v)
{
    const json_t *c = kube_condition (status, "PodScheduled");

    if (strcmp (json_text (c, "reason"), "Unschedulable") == 0)
        set_trouble (v, POD_WAITING, "its scheduler", json_text (c, "message"));
}

void podview_read (const json_t *pod, struct podview *v)
{
    const json_t *meta = json_object_get (pod, "metadata");
    const json_t *status = json_object_get (pod, "status"), *container;
    const char *reason = json_text (status, "reason");
    size_t i;

    *v = (struct podview){ .index = read_index (meta),
                           .component = read_component (meta),
                           .exit_code = -1 };
    snprintf (v->phase, sizeof (v->phase), "%s", json_text (status, "phase"));
    snprintf (v->address, sizeof (v->address), "%s", json_text (status, "podIP"));
    v->deleting = json_is_string (json_object_get (meta, "deletionTimestamp"));
    read_finalizers (meta, v);
    v->terminal = strcmp (v->phase, "Succeeded") == 0 || strcmp (v->phase, "Failed") == 0;
    read_scheduled (status, v);
    json_array_foreach (json_object_get (status, "containerStatuses"), i, container) {
        read_container (container, v);
    }
    json_array_foreach (json_object_get (status, "initContainerStatuses"), i, container) {
        read_init_container (container, v);
    }
    if (reason[0] && strcmp (v->phase, "Failed") == 0) {
        const char *message = json_text (status, "message");
        enum pod_trouble t = classify (reason, message);

        v->blame = find_reason (reason)->blame;
        set_trouble (v, t == POD_FINE ? POD_RETRY : t, reason, message);
    } else if (strcmp (v->phase, "Failed") == 0 && v->trouble == POD_FINE)
        set_trouble (v, POD_RETRY, "the pod failed", "");
    read_eviction (status, v);
    if (v->evicted[0] && v->trouble < POD_RETRY) {
        v->blame = is_for_another (v->evicted) ? POD_BLAME_NOBODY : POD_BLAME_CHANCE;
        set_trouble (v, POD_RETRY, "its pod was evicted", v->evicted);
    }
}
