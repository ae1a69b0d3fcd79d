/* tokenreview.c - see tokenreview.h */
#include "kube/tokenreview.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define PREFIX "system:serviceaccount:"
#define ALPHABET "abcdefghijklmnopqrstuvwxyz0123456789-"

json_t *tokenreview_make (const char *token, const char *audience)
{
    return json_pack ("{s:s s:s s:{s:s s:[s]}}", "apiVersion", "authentication.k8s.io/v1",
                      "kind", "TokenReview", "spec", "token", token, "audiences",
                      audience);
}

/* text: NAMESPACE, separator, NAME. */
static bool is_account (const char *text, char separator)
{
    size_t space = strspn (text, ALPHABET);

    if (space < 1 || space > 63 || text[space] != separator)
        return false;
    text += space + 1;
    size_t name = strspn (text, ALPHABET ".");
    return name >= 1 && name <= 253 && !text[name];
}

bool tokenreview_account_is_valid (const char *text)
{
    return is_account (text, '/');
}

static bool has_text (const json_t *list, const char *text)
{
    const json_t *o;
    size_t i;

    json_array_foreach (list, i, o) {
        if (json_is_string (o) && !strcmp (json_string_value (o), text))
            return true;
    }
    return false;
}

int tokenreview_read (const json_t *answer, const char *audience,
                      char ret[TOKENREVIEW_ACCOUNT_SIZE], struct error *err)
{
    const json_t *status = json_object_get (answer, "status");
    const json_t *user = json_object_get (status, "user");
    const char *kind = json_string_value (json_object_get (answer, "kind"));
    const json_t *username = json_object_get (user, "username");
    const char *name = json_string_value (username);

    if (!kind || strcmp (kind, "TokenReview") != 0 || !json_is_object (status))
        return error_set (err, EBADMSG, "the API server's answer is no TokenReview");
    if (!json_is_true (json_object_get (status, "authenticated")))
        return error_set (err, EACCES,
                          "Kubernetes does not accept the token: it has expired, its "
                          "service account or pod is gone, or it is not for the audience "
                          "%s",
                          audience);
    if (!has_text (json_object_get (status, "audiences"), audience))
        return error_set (err, EACCES, "the token is not for the audience %s", audience);
    if (!name || strlen (name) != json_string_length (username)
        || strncmp (name, PREFIX, strlen (PREFIX)) != 0
        || !is_account (name + strlen (PREFIX), ':'))
        return error_set (err, EACCES, "the token is not of a service account");
    snprintf (ret, TOKENREVIEW_ACCOUNT_SIZE, "%s", name + strlen (PREFIX));
    *strchr (ret, ':') = '/';
    return 0;
}
