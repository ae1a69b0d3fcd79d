/* scontrol_token.c - scontrol token: prints a JSON web token for REST and for commands
 *
 * The line is for eval or export: "SLURM_JWT=eyJ...". Commands send the token of that
 * variable instead of what the socket says about the user.
 */
#include <strings.h>

#include "cmd/slurm/control/scontrol.h"
#include "common/parse.h"

/* The word's value when it is "NAME=VALUE", else NULL. */
static const char *value_of (const char *word, const char *name)
{
    size_t len = strlen (name);

    return !strncasecmp (word, name, len) && word[len] == '=' ? word + len + 1 : NULL;
}

/* Adds the lifespan to the request: 0 or -1 after a message. */
static int add_lifespan (struct scontrol *s, json_t *body, const char *text)
{
    struct error err = { 0 };
    int64_t seconds;

    if (!strcasecmp (text, "infinite") || !strcasecmp (text, "unlimited"))
        return json_object_set_new (body, "lifespan", json_string ("infinite"));
    if (parse_int (text, 1, INT32_MAX - 1, &seconds, "lifespan", &err) < 0) {
        scontrol_error (s, "%s", err.text);
        return -1;
    }
    return json_object_set_new (body, "lifespan", json_integer ((json_int_t)seconds));
}

static int add_word (struct scontrol *s, json_t *body, const char *word)
{
    const char *lifespan = value_of (word, "lifespan");
    const char *user = value_of (word, "username");

    if (lifespan)
        return add_lifespan (s, body, lifespan);
    if (user)
        return json_object_set_new (body, "user", json_string (user));
    scontrol_say (s, "Invalid option: `%s`", word);
    return -1;
}

void scontrol_token (struct scontrol *s, const char *tag, const struct words *w)
{
    json_t *body = json_object (), *o = NULL;
    struct refusal why;

    (void)tag;
    for (int i = 0; i < w->n; i++)
        if (add_word (s, body, w->word[i]) < 0) {
            json_decref (body);
            return;
        }
    if (scontrol_call (s, "POST", "/v1/token", body, &o, &why) == 0)
        printf ("SLURM_JWT=%s\n", json_text (o, "token"));
    else
        scontrol_error (s, "fetch_token: %s", why.words);
    json_decref (o);
}
