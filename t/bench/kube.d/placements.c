/* placements.c - the rate at which the API server accepts placed pods
 *
 *     placements rates COUNT NODE...
 *     placements fill COUNT NODE...
 *
 * Uses the broker's own client and does nothing else. rates: makes COUNT pods without a node and
 * then binds them (two writes a pod), and makes COUNT pods with their node (one write). Prints the
 * rates, "created=N bound=N placed=N" a second, and deletes the pods. fill: makes COUNT pods with
 * their node, which stay; prints "placed=N". $KUBECONFIG names the server; the namespace is default.
 * As many requests are on the wire as the client allows.
 */
#include "kube/client.h"

#include <err.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/clock.h"

#define PODS "/api/v1/namespaces/default/pods"
#define FILL_AT_ONCE 1000
#define LABEL "fluxq-bench-placements"

struct run {
    struct kube *kube;
    uv_loop_t *loop;
    int count, left;
    char **nodes;
    int nnodes;
};

static void on_done (const struct kube_result *res, void *arg)
{
    struct run *r = arg;

    if (res->status < 200 || res->status > 299)
        errx (1, "%s", res->err.text);
    r->left--;
}

static const char *node_of (const struct run *r, int i)
{
    return r->nodes[i % r->nnodes];
}

static json_t *pod (const char *prefix, int i, const char *node)
{
    char name[64];

    snprintf (name, sizeof (name), "%s-%d", prefix, i);
    json_t *p = json_pack ("{s:s s:s s:{s:s s:{s:s}} s:{s:s s:b s:s s:[{s:s s:s}] "
                           "s:[{s:s s:s s:{s:{s:s s:s}}}]}}",
                           "apiVersion", "v1", "kind", "Pod", "metadata", "name", name,
                           "labels", "app", LABEL, "spec", "schedulerName", "nobody",
                           "automountServiceAccountToken", 0, "restartPolicy", "Never",
                           "tolerations", "operator", "Exists", "effect", "NoSchedule",
                           "containers", "name", "main", "image", "busybox:1",
                           "resources", "requests", "cpu", "100m", "memory", "64Mi");

    if (p && node)
        json_object_set_new (json_object_get (p, "spec"), "nodeName", json_string (node));
    return p;
}

static json_t *binding (const char *prefix, int i, const char *node)
{
    char name[64];

    snprintf (name, sizeof (name), "%s-%d", prefix, i);
    return json_pack ("{s:s s:s s:{s:s} s:{s:s s:s s:s}}", "apiVersion", "v1", "kind",
                      "Binding", "metadata", "name", name, "target", "apiVersion", "v1",
                      "kind", "Node", "name", node);
}

static void send_one (struct run *r, const char *method, const char *path, json_t *body)
{
    if (!kube_send (r->kube, method, path, body, on_done, r))
        errx (1, "out of memory");
}

static void create (struct run *r, int i)
{
    send_one (r, "POST", PODS, pod ("loose", i, NULL));
}

static void bind_one (struct run *r, int i)
{
    char path[256];

    snprintf (path, sizeof (path), PODS "/loose-%d/binding", i);
    send_one (r, "POST", path, binding ("loose", i, node_of (r, i)));
}

static void place (struct run *r, int i)
{
    send_one (r, "POST", PODS, pod ("placed", i, node_of (r, i)));
}

static void delete_loose (struct run *r, int i)
{
    char path[256];

    snprintf (path, sizeof (path), PODS "/loose-%d?gracePeriodSeconds=0", i);
    send_one (r, "DELETE", path, NULL);
}

static void delete_placed (struct run *r, int i)
{
    char path[256];

    snprintf (path, sizeof (path), PODS "/placed-%d?gracePeriodSeconds=0", i);
    send_one (r, "DELETE", path, NULL);
}

/* The rate for this count. */
static double rate (struct run *r, void (*one) (struct run *r, int i))
{
    double begin = clock_mono ();

    r->left = r->count;
    for (int i = 0; i < r->count; i++)
        one (r, i);
    while (r->left > 0)
        uv_run (r->loop, UV_RUN_ONCE);
    return r->count / (clock_mono () - begin);
}

/* A few thousand at a time, because the client bounds its memory. */
static double fill (struct run *r)
{
    double begin = clock_mono ();

    for (int i = 0; i < r->count; i++) {
        place (r, i);
        for (r->left++; r->left > FILL_AT_ONCE || (i == r->count - 1 && r->left > 0);)
            uv_run (r->loop, UV_RUN_ONCE);
    }
    return r->count / (clock_mono () - begin);
}

static void rates (struct run *r)
{
    double created = rate (r, create), bound = rate (r, bind_one);

    rate (r, delete_loose);
    double placed = rate (r, place);
    rate (r, delete_placed);
    printf ("created=%.0f bound=%.0f placed=%.0f\n", created, bound, placed);
}

int main (int argc, char **argv)
{
    struct error error = { 0 };
    struct run r = { .loop = uv_default_loop (), .nodes = argv + 3, .nnodes = argc - 3 };

    if (argc < 4 || (strcmp (argv[1], "rates") != 0 && strcmp (argv[1], "fill") != 0)
        || (r.count = (int)strtol (argv[2], NULL, 10)) < 1)
        errx (2, "usage: placements rates|fill COUNT NODE...");
    struct httpc *http = httpc_create (r.loop, &error);
    struct kubeconfig *kc = http ? kubeconfig_load (NULL, NULL, &error) : NULL;
    r.kube = kc ? kube_create (http, r.loop, kc, &error) : NULL;
    if (!r.kube)
        errx (1, "%s", error.text);
    if (strcmp (argv[1], "fill") == 0)
        printf ("placed=%.0f\n", fill (&r));
    else
        rates (&r);
    kube_destroy (r.kube);
    httpc_destroy (http);
    uv_run (r.loop, UV_RUN_DEFAULT);
    return 0;
}
