/* accounts.c - see accounts.h
 */
#include "broker/services/accounts.h"

#include <strings.h>

#include "broker/core/service.h"
#include "common/strbuf.h"
#include "jobspec/attributes/text.h"

#define NAMES_SHOWN 400 /* bytes of a list in a message */

struct settings {
    char **accounts, **qos; /* ended by NULL; NULL: any */
};

static struct service_place place;

#define AT(field) CONFIG_FIELD (struct settings, field)
static const struct config_key keys[] = {
    { "accounts", value_strings, AT (accounts), 0, 0, NULL },
    { "qos", value_strings, AT (qos), 0, 0, NULL },
    { 0 },
};
static const struct settings defaults = { .accounts = NULL };

SERVICE_SETTINGS_OF (struct settings)

static int check_names (const char *key, char **names, struct error *err)
{
    for (; names && *names; names++)
        if (!text_is_name (*names))
            return error_set (err, EINVAL, "%s: '%.60s' cannot be a name", key, *names);
    return 0;
}

static int check_config (const struct config *c, struct error *err)
{
    const struct settings *set = service_settings (c, &place);
    int rc = check_names ("accounts", set->accounts, err);

    return rc < 0 ? rc : check_names ("qos", set->qos, err);
}

static void add_names (struct strbuf *sb, char **names)
{
    for (size_t i = 0; names[i]; i++) {
        if (sb->len + strlen (names[i]) > NAMES_SHOWN) {
            strbuf_adds (sb, ", ...");
            return;
        }
        strbuf_addf (sb, "%s%s", i ? ", " : "", names[i]);
    }
}

/* what: "account"; name: as asked for, or NULL. */
static int check (const char *what, const char *name, char **names, struct error *err)
{
    autostrbuf struct strbuf list = STRBUF_INIT (4096);

    if (!name || !names)
        return 0;
    for (char **n = names; *n; n++)
        if (!strcasecmp (*n, name))
            return 0;
    add_names (&list, names);
    return error_set (err, ENOENT, "%s '%.60s' does not exist; there is %s", what, name,
                      list.len ? list.buf : "none");
}

int accounts_check (struct broker *b, const struct jobspec *js, const char **code,
                    struct error *err)
{
    const struct settings *set = settings_of (b);
    int rc = check ("account", js->account, set->accounts, err);

    if (rc < 0) {
        *code = "unknown-account";
        return rc;
    }
    rc = check ("qos", js->qos, set->qos, err);
    if (rc < 0)
        *code = "unknown-qos";
    return rc;
}

const struct broker_service service_accounts = {
    .name = "accounts",
    .place = &place,
    .settings = &settings,
    .check_config = check_config,
};
