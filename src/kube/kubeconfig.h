/* kubeconfig.h - the address of the API server, and our credentials there
 *
 *     struct kubeconfig *kc = kubeconfig_load (NULL, NULL, &err);
 *     kc->server, kc->tls.ca_file, kc->token ...
 *     kubeconfig_destroy (kc);
 *
 * Sources: the path given; else $KUBECONFIG (one file); else the service account of the
 * pod that the broker runs in (KUBERNETES_SERVICE_HOST); else ~/.kube/config. Settings
 * that need a program or a protocol of their own (exec plugins, auth-provider, user name
 * and password, impersonation, proxy-url) are refused by name. Source: kubernetes.io,
 * "kubeconfig (v1)".
 */
#pragma once

#include "kube/http.h"

struct kubeconfig {
    char *server;         /* URL without a final slash */
    char *namespace_;     /* of the context, or NULL */
    char *token;          /* or NULL; with token_file: its content at load */
    char *token_file;     /* or NULL: read it again now and then */
    struct httpc_tls tls; /* the kubeconfig owns its strings */
};

/* path, context: NULL for the defaults. NULL on error, and err names file and place. */
struct kubeconfig *kubeconfig_load (const char *path, const char *context,
                                    struct error *err);
void kubeconfig_destroy (struct kubeconfig *kc);
/* Re-reads token_file. 0 (also without one), or a negative errno; the old token is kept
 * then. */
int kubeconfig_refresh (struct kubeconfig *kc, struct error *err);
