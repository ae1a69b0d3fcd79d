/* kubeconfig.c - see kubeconfig.h */
#include "kube/kubeconfig.h"

#include <limits.h>

#include "common/io.h"
#include "common/sha256.h"
#include "common/yaml.h"
#include "jobspec/attributes/base64.h"

#define ACCOUNT "/var/run/secrets/kubernetes.io/serviceaccount/"
#define TOKEN_MAX 65536

void kubeconfig_destroy (struct kubeconfig *kc)
{
    char *secrets[2];

    if (!kc)
        return;
    secrets[0] = kc->token;
    secrets[1] = (char *)kc->tls.key_data;
    for (size_t i = 0; i < ARRAY_SIZE (secrets); i++) {
        if (secrets[i])
            secret_wipe (secrets[i], strlen (secrets[i]));
        free (secrets[i]);
    }
    free (kc->server);
    free (kc->namespace_);
    free (kc->token_file);
    free ((char *)kc->tls.ca_file);
    free ((char *)kc->tls.ca_data);
    free ((char *)kc->tls.cert_file);
    free ((char *)kc->tls.cert_data);
    free ((char *)kc->tls.key_file);
    free ((char *)kc->tls.server_name);
    free (kc);
}

int kubeconfig_refresh (struct kubeconfig *kc, struct error *err)
{
    autostrbuf struct strbuf sb = STRBUF_INIT (TOKEN_MAX + 1);

    if (!kc->token_file)
        return 0;
    int rc = io_read_file (kc->token_file, &sb, TOKEN_MAX, err);
    if (rc < 0)
        return rc;
    sb.buf[strcspn (sb.buf, " \t\r\n")] = 0;
    if (!sb.buf[0])
        return error_set (err, EINVAL, "%s: there is no token in it", kc->token_file);
    if (kc->token)
        secret_wipe (kc->token, strlen (kc->token));
    free (kc->token);
    kc->token = strdup (sb.buf);
    secret_wipe (sb.buf, sb.len);
    return kc->token ? 0 : error_set (err, ENOMEM, "out of memory");
}

/* -- in a pod -- */

static struct kubeconfig *load_in_cluster (struct error *err)
{
    const char *host = getenv ("KUBERNETES_SERVICE_HOST");
    const char *port = getenv ("KUBERNETES_SERVICE_PORT");
    struct kubeconfig *kc = calloc (1, sizeof (*kc));
    autostrbuf struct strbuf sb = STRBUF_INIT (4096);

    if (!kc)
        goto nomem;
    strbuf_addf (&sb, strchr (host, ':') ? "https://[%s]:%s" : "https://%s:%s", host,
                 port ? port : "443");
    kc->server = strbuf_detach (&sb);
    kc->tls.ca_file = strdup (ACCOUNT "ca.crt");
    kc->token_file = strdup (ACCOUNT "token");
    if (!kc->server || !kc->tls.ca_file || !kc->token_file)
        goto nomem;
    if (kubeconfig_refresh (kc, err) < 0)
        goto fail;
    if (io_read_file (ACCOUNT "namespace", &sb, 256, NULL) == 0)
        kc->namespace_ = strndup (sb.buf, strcspn (sb.buf, "\r\n"));
    return kc;
nomem:
    error_set (err, ENOMEM, "out of memory");
fail:
    kubeconfig_destroy (kc);
    return NULL;
}

/* -- from a file -- */

struct source {
    const struct yaml_doc *doc;
    const char *path;
    struct error *err;
};

/* Returns the element of the list with this "name"; NULL with err set. */
static json_t *find_named (const struct source *src, const char *list, const char *name,
                           const char *key)
{
    json_t *root = yaml_root (src->doc), *array = json_object_get (root, list), *item;
    size_t i;

    json_array_foreach (array, i, item) {
        const char *n = json_string_value (json_object_get (item, "name"));

        if (n && strcmp (n, name) == 0) {
            json_t *value = json_object_get (item, key);

            if (json_is_object (value))
                return value;
            yaml_error (src->doc, item, NULL, src->err, "'%s' has no %s", name, key);
            return NULL;
        }
    }
    return error_null (
        error_set (src->err, ENOENT, "%s: there is no %s '%s'", src->path, key, name));
}

/* Reads a string, "" if it is missing. */
static int get_text (const struct source *src, json_t *o, const char *key,
                     const char **ret)
{
    json_t *v = json_object_get (o, key);

    *ret = "";
    if (!v || json_is_null (v))
        return 0;
    if (!json_is_string (v))
        return yaml_error (src->doc, o, key, src->err, "%s: expected a string, got %s",
                           key, json_type_name (v));
    *ret = json_string_value (v);
    return 0;
}

/* Relative paths are relative to the kubeconfig's folder. */
static char *resolve (const char *config, const char *path)
{
    const char *slash = strrchr (config, '/');
    char *full = NULL;

    if (path[0] == '/' || !slash)
        return strdup (path);
    if (asprintf (&full, "%.*s/%s", (int)(slash - config), config, path) < 0)
        return NULL;
    return full;
}

static int get_file (const struct source *src, json_t *o, const char *key,
                     const char **ret)
{
    const char *text;
    int rc = get_text (src, o, key, &text);

    if (rc < 0 || !text[0])
        return rc;
    *ret = resolve (src->path, text);
    return *ret ? 0 : error_set (src->err, ENOMEM, "out of memory");
}

static int get_pem (const struct source *src, json_t *o, const char *key,
                    const char **ret)
{
    const char *text;
    int rc = get_text (src, o, key, &text);

    if (rc < 0 || !text[0])
        return rc;
    char *data = calloc (1, BASE64_DECODED (strlen (text)) + 1);
    if (!data)
        return error_set (src->err, ENOMEM, "out of memory");
    ssize_t len = base64_decode (text, strlen (text), data);
    if (len >= 0 && strlen (data) == (size_t)len && strstr (data, "-----BEGIN ")) {
        *ret = data;
        return 0;
    }
    secret_wipe (data, len < 0 ? 0 : (size_t)len);
    free (data);
    return yaml_error (src->doc, o, key, src->err, "%s: not PEM text in base64", key);
}

static const struct {
    const char *key, *why;
} unsupported_user[] = {
    { "exec", "credential plugins are not supported: use a client certificate, a token "
              "or tokenFile" },
    { "auth-provider",
      "auth-provider is not supported: use a client certificate, a token or tokenFile" },
    { "username",
      "user name and password are not supported: use a client certificate or a token" },
    { "as", "impersonation is not supported" },
};

static int load_user (const struct source *src, json_t *user, struct kubeconfig *kc)
{
    const char *token, *file = NULL;
    int rc;

    for (size_t i = 0; i < ARRAY_SIZE (unsupported_user); i++) {
        if (json_object_get (user, unsupported_user[i].key))
            return yaml_error (src->doc, user, unsupported_user[i].key, src->err, "%s",
                               unsupported_user[i].why);
    }
    if ((rc = get_file (src, user, "client-certificate", &kc->tls.cert_file)) < 0
        || (rc = get_file (src, user, "client-key", &kc->tls.key_file)) < 0
        || (rc = get_pem (src, user, "client-certificate-data", &kc->tls.cert_data)) < 0
        || (rc = get_pem (src, user, "client-key-data", &kc->tls.key_data)) < 0
        || (rc = get_text (src, user, "token", &token)) < 0
        || (rc = get_file (src, user, "tokenFile", &file)) < 0)
        return rc;
    kc->token_file = (char *)file;
    if (file)
        return kubeconfig_refresh (kc, src->err);
    if (token[0] && !(kc->token = strdup (token)))
        return error_set (src->err, ENOMEM, "out of memory");
    return 0;
}

static int load_cluster (const struct source *src, json_t *cluster, struct kubeconfig *kc)
{
    const char *server, *name, *proxy;
    json_t *insecure = json_object_get (cluster, "insecure-skip-tls-verify");
    size_t len;
    int rc;

    if ((rc = get_text (src, cluster, "server", &server)) < 0
        || (rc = get_text (src, cluster, "tls-server-name", &name)) < 0
        || (rc = get_text (src, cluster, "proxy-url", &proxy)) < 0
        || (rc = get_file (src, cluster, "certificate-authority", &kc->tls.ca_file)) < 0
        || (rc = get_pem (src, cluster, "certificate-authority-data", &kc->tls.ca_data))
               < 0)
        return rc;
    if (proxy[0])
        return yaml_error (src->doc, cluster, "proxy-url", src->err,
                           "proxy-url is not supported");
    if (strncmp (server, "https://", 8) != 0 && strncmp (server, "http://", 7) != 0)
        return yaml_error (src->doc, cluster, NULL, src->err, "server: '%s' is not a URL",
                           server);
    for (len = strlen (server); len > 0 && server[len - 1] == '/';)
        len--;
    kc->server = strndup (server, len);
    kc->tls.insecure = json_is_true (insecure);
    if (name[0])
        kc->tls.server_name = strdup (name);
    if (!kc->server || (name[0] && !kc->tls.server_name))
        return error_set (src->err, ENOMEM, "out of memory");
    return 0;
}

static struct kubeconfig *load_doc (const struct source *src, const char *context)
{
    struct kubeconfig *kc = calloc (1, sizeof (*kc));
    const char *cluster_name, *user_name, *ns;
    json_t *ctx, *cluster, *user = NULL;

    if (!kc)
        return error_null (error_set (src->err, ENOMEM, "out of memory"));
    if (!context && get_text (src, yaml_root (src->doc), "current-context", &context) < 0)
        goto fail;
    if (!context[0]) {
        error_set (src->err, ENOENT, "%s: there is no current-context", src->path);
        goto fail;
    }
    if (!(ctx = find_named (src, "contexts", context, "context"))
        || get_text (src, ctx, "cluster", &cluster_name) < 0
        || get_text (src, ctx, "user", &user_name) < 0
        || get_text (src, ctx, "namespace", &ns) < 0
        || !(cluster = find_named (src, "clusters", cluster_name, "cluster"))
        || (user_name[0] && !(user = find_named (src, "users", user_name, "user"))))
        goto fail;
    if (load_cluster (src, cluster, kc) < 0 || (user && load_user (src, user, kc) < 0))
        goto fail;
    if (ns[0])
        kc->namespace_ = strdup (ns);
    return kc;
fail:
    kubeconfig_destroy (kc);
    return NULL;
}

static struct kubeconfig *load_file (const char *path, const char *context,
                                     struct error *err)
{
    struct yaml_doc *doc = yaml_load_file (path, err);
    struct source src = { .doc = doc, .path = path, .err = err };
    struct kubeconfig *kc = NULL;

    if (!doc)
        return NULL;
    if (json_is_object (yaml_root (doc)))
        kc = load_doc (&src, context);
    else
        error_set (err, EINVAL, "%s: not a kubeconfig", path);
    yaml_destroy (doc);
    return kc;
}

struct kubeconfig *kubeconfig_load (const char *path, const char *context,
                                    struct error *err)
{
    const char *home = getenv ("HOME");
    char text[PATH_MAX];

    if (!path) {
        path = getenv ("KUBECONFIG");
        if (path && strchr (path, ':'))
            return error_null (error_set (
                err, EINVAL, "KUBECONFIG names several files: give the one to use"));
    }
    if (path && path[0])
        return load_file (path, context, err);
    if (getenv ("KUBERNETES_SERVICE_HOST"))
        return load_in_cluster (err);
    snprintf (text, sizeof (text), "%s/.kube/config", home ? home : "");
    return load_file (text, context, err);
}
