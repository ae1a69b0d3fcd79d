/* tls.c - the certificate of the TCP listener, and its renewal
 *
 * Every listener on TCP speaks TLS. fluxq.yaml has to say by name that one does not. The
 * files are read at the start and at each reload, because a renewed certificate usually has
 * its old name; if they cannot be used, the broker does not start, or keeps the earlier ones.
 */
#include "broker/core/service.h"
#include "broker/core/users.h"
#include "common/clock.h"
#include "net/tls_context.h"

struct settings {
    bool off;
    char *certificate, *key, *client_ca; /* files; NULL: none */
};

struct loaded {
    SSL_CTX *context; /* NULL: without TLS */
    uint8_t digest[SHA256_SIZE]; /* of the files */
};

struct tls {
    struct loaded now;
    struct loaded next; /* of the configuration that may replace the current one */
    bool renewed;       /* the last reload has found other contents in the files */
};

static config_value set_tls;

#define AT(field) CONFIG_FIELD (struct settings, field)
static const struct config_key keys[] = {
    { "tls", set_tls, AT (off), 0, 0, NULL },
    { "tls-certificate", value_string, AT (certificate), 0, 0, NULL },
    { "tls-key", value_string, AT (key), 0, 0, NULL },
    { "tls-client-ca", value_string, AT (client_ca), 0, 0, NULL },
    { 0 },
};
static const struct settings defaults = { 0 };
static struct service_place place;
static const struct config_part settings = { keys, sizeof (struct settings), &defaults };
SERVICE_STATE_OF (struct tls)

/* Only "off" can be said: TLS is on by its files. */
static int set_tls (const struct config_key *key, void *field, json_t *value,
                    const struct config_place *p)
{
    const char *text = json_string_value (value);

    (void)key;
    if (!text || strcmp (text, "off") != 0)
        return CONFIG_FAIL (p, "tls: expected off; tls-certificate and tls-key switch "
                               "TLS on");
    *(bool *)field = true;
    return 0;
}

/* -- the files -- */

static const struct settings *settings_in (const struct config *c)
{
    return service_settings (c, &place);
}

static int read_files (const struct config *c, struct loaded *ret, struct error *err)
{
    const struct settings *set = settings_in (c);
    const struct tls_files files = { set->certificate, set->key, set->client_ca };
    struct error own = { 0 };

    *ret = (struct loaded){ 0 };
    if (!set->certificate)
        return 0;
    if (!(ret->context = tls_context_load (&files, ret->digest, &own)))
        return error_set (err, EINVAL, "TLS: %s", own.text);
    return 0;
}

/* Returns the fault of the keys together, and in *ret_key the key to name; NULL: there is
 * none. */
static const char *find_fault (const struct config *c, const char **ret_key)
{
    const struct settings *set = settings_in (c);

    *ret_key = "listen";
    if (c->listen_host && !set->certificate && !set->off)
        return "listen: needs tls-certificate and tls-key; or \"tls: off\", if nobody "
               "else "
               "can read or change what goes over this address";
    *ret_key = set->certificate ? "tls-certificate"
               : set->key       ? "tls-key"
                                : "tls-client-ca";
    if (!set->certificate != !set->key)
        return "tls-certificate and tls-key need each other";
    if (set->client_ca && !set->certificate)
        return "tls-client-ca needs tls-certificate and tls-key";
    if (set->certificate && set->off)
        return "tls-certificate contradicts \"tls: off\": remove one of them";
    return NULL;
}

static int check_config (const struct config *c, struct error *err)
{
    const char *key, *fault = find_fault (c, &key);
    struct loaded files;

    if (fault)
        return yaml_error (c->doc, yaml_root (c->doc), key, err, "%s", fault);
    int rc = read_files (c, &files, err);
    tls_context_release (files.context);
    return rc;
}

/* -- the listener -- */

static void use (struct broker *b, struct loaded files)
{
    struct tls *tls = state_of (b);
    struct error remark = { 0 };

    tls_context_release (tls->now.context);
    tls->now = files;
    if (files.context
        && tls_context_remark (files.context, (int64_t)clock_wall (), &remark))
        log_warning ("tls-certificate: %s: %s",
                     settings_in (broker_config (b))->certificate, remark.text);
    http_server_set_tls (broker_http (b), files.context, users_uid_of);
}

/* No connection has been accepted yet. */
static int begin (struct broker *b, struct error *err)
{
    struct loaded files;
    int rc = read_files (broker_config (b), &files, err);

    if (rc == 0)
        use (b, files);
    return rc;
}

static int check_reload (struct broker *b, const struct config *c, struct error *err)
{
    struct tls *tls = state_of (b);

    tls_context_release (tls->next.context);
    return read_files (c, &tls->next, err);
}

static void reloaded (struct broker *b, const struct config *old)
{
    struct tls *tls = state_of (b);
    struct loaded files = tls->next;

    (void)old;
    tls->next = (struct loaded){ 0 };
    tls->renewed = tls->now.context && files.context
                   && memcmp (tls->now.digest, files.digest, SHA256_SIZE) != 0;
    use (b, files);
}

static void list_files (struct broker *b, json_t *applied)
{
    static const char key[] = "tls-certificate";
    const json_t *other;
    size_t i;

    json_array_foreach (applied, i, other) {
        if (!strcmp (json_string_value (other), key))
            return;
    }
    if (state_of (b)->renewed)
        json_array_append_new (applied, json_string (key));
}

static void release (struct broker *b)
{
    struct tls *tls = state_of (b);

    tls_context_release (tls->now.context);
    tls_context_release (tls->next.context);
}

const struct broker_service service_tls = {
    .name = "tls",
    .place = &place,
    .state_size = sizeof (struct tls),
    .settings = &settings,
    .check_config = check_config,
    .begin = begin,
    .check_reload = check_reload,
    .reloaded = reloaded,
    .list_files = list_files,
    .release = release,
};
