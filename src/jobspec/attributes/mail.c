/* mail.c - see mail.h
 */
#include "jobspec/attributes/mail.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

#include "common/macros.h"

static const struct {
    const char *name;
    unsigned types;
    const char *refused; /* the reason; NULL: it is done */
} words[] = {
    { "NONE", 0, NULL },
    { "BEGIN", MAIL_BEGIN, NULL },
    { "END", MAIL_END, NULL },
    { "FAIL", MAIL_FAIL, NULL },
    { "REQUEUE", MAIL_REQUEUE, NULL },
    { "INVALID_DEPEND", MAIL_INVALID_DEPEND, NULL },
    { "TIME_LIMIT", MAIL_TIME_LIMIT, NULL },
    { "TIME_LIMIT_90", MAIL_TIME_LIMIT_90, NULL },
    { "TIME_LIMIT_80", MAIL_TIME_LIMIT_80, NULL },
    { "TIME_LIMIT_50", MAIL_TIME_LIMIT_50, NULL },
    { "ARRAY_TASKS", MAIL_ARRAY_TASKS, NULL },
    { "ALL", MAIL_BEGIN | MAIL_END | MAIL_FAIL | MAIL_REQUEUE | MAIL_INVALID_DEPEND,
      NULL },
    { "STAGE_OUT", 0,
      "there are no burst buffers; END comes when --stage-out has copied the files" },
};

const char *mail_type_name (enum mail_type type)
{
    for (size_t i = 0; i < ARRAY_SIZE (words); i++)
        if (words[i].types == (unsigned)type)
            return words[i].name;
    return "";
}

static int read_word (const char *word, size_t len, unsigned *types, bool *none,
                      const char *where, struct error *err)
{
    for (size_t i = 0; i < ARRAY_SIZE (words); i++) {
        if (strlen (words[i].name) != len || strncasecmp (words[i].name, word, len) != 0)
            continue;
        if (words[i].refused)
            return error_set (err, EINVAL, "%s: %s: %s", where, words[i].name,
                              words[i].refused);
        *types |= words[i].types;
        *none |= i == 0;
        return 0;
    }
    return error_set (err, EINVAL,
                      "%s: '%.*s' is not an event; there are NONE, BEGIN, END, FAIL, "
                      "REQUEUE, ALL, INVALID_DEPEND, TIME_LIMIT, TIME_LIMIT_90, "
                      "TIME_LIMIT_80, TIME_LIMIT_50 and ARRAY_TASKS",
                      where, (int)MIN (len, 60), word);
}

int mail_types_parse (const char *text, unsigned *ret, const char *where,
                      struct error *err)
{
    unsigned types = 0;
    bool none = false;

    for (const char *word = text;; word++) {
        size_t len = strcspn (word, ",");
        if (read_word (word, len, &types, &none, where, err) < 0)
            return -EINVAL;
        word += len;
        if (!*word)
            break;
    }
    *ret = none ? 0 : types;
    return 0;
}

/* One address of len bytes. */
static bool is_address (const char *text, size_t len)
{
    size_t at = 0;

    for (size_t i = 0; i < len; i++) {
        at += text[i] == '@';
        if (!isalnum ((unsigned char)text[i]) && !strchr ("._%+=-@", text[i]))
            return false;
    }
    return len > 0 && at <= 1 && isalnum ((unsigned char)text[0])
           && isalnum ((unsigned char)text[len - 1]);
}

int mail_user_check (const char *text, const char *where, struct error *err)
{
    size_t n = 0;

    for (const char *address = text;; address++) {
        size_t len = strcspn (address, ",");
        if (!is_address (address, len))
            return error_set (err, EINVAL,
                              "%s: '%.*s' is not a user or an address of mail; write "
                              "USER or USER@HOST",
                              where, (int)MIN (len, 60), address);
        if (++n > MAIL_ADDRESSES_MAX || strlen (text) > MAIL_USER_MAX)
            return error_set (err, EINVAL, "%s: more than %d addresses or %d bytes",
                              where, MAIL_ADDRESSES_MAX, MAIL_USER_MAX);
        address += len;
        if (!*address)
            return 0;
    }
}
