/* client_settings.h - client.yaml: which brokers a command trusts, and who it is
 *
 *     struct client_settings set;
 *     rc = client_settings_read (&set, CLIENT_SETTINGS_OWN, &err);
 *     ... set.ca, set.pins, ...
 *     client_settings_release (&set);
 *
 * The administrator's file is SYSCONFDIR/fluxq/client.yaml, the user's own
 * $XDG_CONFIG_HOME/fluxq/client.yaml (~/.config without it). A key of the user's file
 * replaces the administrator's:
 *
 *     brokers: [fluxq]                 # the administrator's file only, see trust.h
 *     ca: /etc/fluxq/site-ca.pem       # authorities of brokers; default: the system's
 *     pins: ["sha256//BASE64"]         # keys of brokers, in addition to the authority
 *     certificate: /home/ann/ann.pem   # the user's own, for TLS
 *     key: /home/ann/ann.key
 *
 * The administrator's file counts only if it belongs to root, the user's if it belongs to
 * the user or root, and both only if nobody else may write them.
 */
#pragma once

#include "common/yaml.h"

#define CLIENT_SETTINGS_FILE FLUXQ_SYSCONFDIR "/client.yaml"

enum client_settings_from { CLIENT_SETTINGS_SITE, CLIENT_SETTINGS_OWN };

struct client_settings {      /* everything is borrowed from the two documents */
    struct yaml_doc *docs[2]; /* NULL: there is no such file */
    const json_t *brokers;    /* list of texts and integers, or NULL */
    const json_t *pins;       /* list of texts, or NULL: any key */
    const char *ca, *certificate, *key; /* absolute paths, or NULL */
};

/* CLIENT_SETTINGS_SITE: only the administrator's file; _OWN: both. 0, or a negative errno
 * with a reason that names the file, and the place in it. */
int client_settings_read (struct client_settings *ret, enum client_settings_from from,
                          struct error *err);
void client_settings_release (struct client_settings *set);
