/* kubeconfig.h - which API server, and who we are there
 *
 *     struct kubeconfig *kc = kubeconfig_load (NULL, NULL, &err);
 *     kc->server, kc->tls.ca_file, kc->token ...
 *     kubeconfig_destroy (kc);
 *
 * Where it looks: the path given; else $KUBECONFIG (one file); else the service account
 * of the pod that it runs in (KUBERNETES_SERVICE_HOST); else ~/.kube/config. What needs a
 * program or a protocol of its own (exec plugins, auth-provider, user name and password,
 * impersonation, proxy-url) is refused by name. Source: kubernetes.io, "kubeconfig (v1)".
 */
#ifndef FLUXQ_KUBE_KUBECONFIG_H
#define FLUXQ_KUBE_KUBECONFIG_H

#include "kube/http.h"

struct kubeconfig {
    char *server;         /* URL without a final slash */
    char *namespace_;     /* of the context, or NULL */
    char *token;          /* or NULL; with token_file: what it had at load */
    char *token_file;     /* or NULL: read it again now and then */
    struct httpc_tls tls; /* its strings are owned by this */
};

/* path, context: NULL for the usual ones. NULL on error, which names file and place. */
struct kubeconfig *kubeconfig_load (const char *path, const char *context,
                                    struct error *err);
void kubeconfig_destroy (struct kubeconfig *kc);
/* Read token_file anew. 0 (also when there is none), or negative errno; the old token is
 * kept then. */
int kubeconfig_refresh (struct kubeconfig *kc, struct error *err);

#endif
