/* fuzz_config.c - any bytes as fluxq.yaml, and after each line "---" another one that is read in
 * its place; also what the executor for Kubernetes reads in its mapping
 *
 * Parser: broker/config/config.c broker/config/queue.c broker/config/value.c common/yaml.c
 * Parser: exec/kube/core/config.c exec/kube/core/adoptconfig.c exec/kube/core/groupconfig.c
 * Parser: exec/podset.c exec/mounts.c exec/topology.c exec/spaceset.c
 */
#include "fuzz.h"

#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include "broker/config/config.h"
#include "broker/core/service.h"
#include "exec/kube/core/config.h"

#define FILES_MAX 64

/* A file in memory with that text, as a path. */
static int make_file (const char *text, char path[64])
{
    int fd = memfd_create ("fluxq.yaml", MFD_CLOEXEC);

    assert (fd >= 0);
    assert (write (fd, text, strlen (text)) == (ssize_t)strlen (text));
    snprintf (path, 64, "/proc/self/fd/%d", fd);
    return fd;
}

static struct config *load (const char *text)
{
    char path[64];
    int fd = make_file (text, path);
    struct error err = { 0 };
    struct config *c = config_load (path, services_settings (), &err);

    close (fd);
    if (!c)
        fuzz_check_refusal (&err, path);
    return c;
}

static void check (struct config *c)
{
    assert (c->nqueues > 0 && config_default_queue (c));
    for (size_t i = 0; i < c->nqueues; i++) {
        const struct config_queue *q = &c->queues[i];
        struct config_timeouts t = config_timeouts_of (c, (unsigned)i, 0);
        assert (q->name[0] && config_find_queue (c, q->name) == q);
        assert (config_queue_index (c, q->name) == (int)i);
        assert (q->default_time >= 0 && q->max_time >= 0 && q->max_nodes >= 0);
        assert (t.start > 0 && t.pull > 0);
        config_admin_of (c, (unsigned)i);
    }
    json_t *pods = config_pods (c);
    assert (pods);
    json_decref (pods);
}

static void check_kube (struct config *c)
{
    json_t *section = config_executor_section (c, "kube");
    struct kube_config kube;
    struct error err = { 0 };
    int rc = kube_config_read (c->doc, section, &kube, &err);

    if (rc == 0) {
        assert (kube.gpu_resource && kube.request_rate > 0);
        kube_config_release (&kube);
    } else
        fuzz_check_refusal (&err, "");
}

/* The file is read again, and is this one now. */
static void check_next (struct config *c, const struct config *before)
{
    assert (config_set_executor (c, "local", NULL, NULL) == 0);
    assert (config_keep_options (c, before) == 0);
    assert (!before->options || !strcmp (c->executor, "kube"));
}

int LLVMFuzzerTestOneInput (const uint8_t *data, size_t size)
{
    struct fuzz_input in = { data, size };
    struct config *c, *before = NULL;

    for (int i = 0; i < FILES_MAX && (i == 0 || in.size > 0); i++) {
        autofree char *text = fuzz_part (&in, "\n---\n");
        if (!(c = load (text)))
            continue;
        check (c);
        check_kube (c);
        if (before)
            check_next (c, before);
        assert (config_set_executor (c, "kube", "context", json_string ("x")) == 0);
        config_destroy (before);
        before = c;
    }
    config_destroy (before);
    return 0;
}
