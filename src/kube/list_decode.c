/* list_decode.c - finds the items of a list in the incoming pieces: see watch.h
 *
 * One buffer gets the item, another the text around all items. The decoder looks only at
 * brackets and strings; the parser checks the JSON.
 */
#include "kube/watch.h"

#include "common/json.h"
#include "kube/object.h"

void kube_list_init (struct kube_list *l)
{
    memset (l, 0, sizeof (*l));
    strbuf_init (&l->item, KUBE_LINE_MAX);
    strbuf_init (&l->around, KUBE_AROUND_MAX);
}

void kube_list_release (struct kube_list *l)
{
    strbuf_release (&l->item);
    strbuf_release (&l->around);
}

/* Returns the position behind the next bracket outside of strings, and counts it; or
 * end. */
static const char *next_bracket (struct kube_list *l, unsigned *depth, const char *at,
                                 const char *end)
{
    for (; at < end; at++) {
        if (l->escaped)
            l->escaped = false;
        else if (l->in_string) {
            l->escaped = *at == '\\';
            l->in_string = *at != '"';
        } else if (*at == '"')
            l->in_string = true;
        else if (*at == '{' || *at == '[') {
            ++*depth;
            return at + 1;
        } else if ((*at == '}' || *at == ']') && *depth > 0) {
            --*depth;
            return at + 1;
        }
    }
    return at;
}

static int keep (struct strbuf *sb, const char *what, const char *from, const char *to,
                 struct error *err)
{
    if (strbuf_add (sb, from, (size_t)(to - from)) < 0)
        return error_set (err, EBADMSG, "%s is longer than %zu bytes", what, sb->max);
    return 0;
}

/* Returns the length of text without this final word and the blanks before it; 0: text
 * does not end with it. */
static size_t before (const char *text, size_t len, const char *word)
{
    size_t n = strlen (word);

    while (len > 0 && strchr (" \t\r\n", text[len - 1]))
        len--;
    return len >= n && memcmp (text + len - n, word, n) == 0 ? len - n : 0;
}

static bool begins_items (const struct kube_list *l)
{
    bool opened = l->outer == 2 && !l->in_string;
    size_t len = opened ? before (l->around.buf, l->around.len, "[") : 0;

    len = len > 0 ? before (l->around.buf, len, ":") : 0;
    return len > 0 && before (l->around.buf, len, "\"items\"") > 0;
}

static int read_around (struct kube_list *l, const char **at, const char *end,
                        struct error *err)
{
    const char *to = next_bracket (l, &l->outer, *at, end);
    int rc = keep (&l->around, "the object around the list", *at, to, err);

    *at = to;
    if (rc == 0 && begins_items (l))
        l->where = KUBE_LIST_BETWEEN;
    return rc;
}

static int read_between (struct kube_list *l, const char **at, struct error *err)
{
    if (**at == '{')
        l->where = KUBE_LIST_ITEM;
    else if (**at == ']')
        l->where = KUBE_LIST_AROUND;
    else if (!strchr (", \t\r\n", **at) || **at == '\0')
        return error_set (err, EBADMSG, "an item of the list is not an object");
    else
        ++*at;
    return 0;
}

static int hand_on (json_t *item, int (*fn) (json_t *item, void *arg), void *arg,
                    struct error *err)
{
    json_t *meta = json_object_get (item, "metadata");

    if (!json_is_string (json_object_get (meta, "name")))
        return error_set (err, EBADMSG, "an item of the list has no name");
    return fn (item, arg);
}

static int read_item (struct kube_list *l, const char **at, const char *end,
                      int (*fn) (json_t *item, void *arg), void *arg, struct error *err)
{
    const char *to = next_bracket (l, &l->inner, *at, end);
    int rc = keep (&l->item, "an item of the list", *at, to, err);

    *at = to;
    if (rc < 0 || l->inner > 0)
        return rc;
    struct error why = { 0 };
    autojson json_t *item = kube_object_parse (l->item.buf, l->item.len, "list", &why);

    strbuf_reset (&l->item);
    l->where = KUBE_LIST_BETWEEN;
    return item ? hand_on (item, fn, arg, err) : error_set (err, EBADMSG, "%s", why.text);
}

int kube_list_feed (struct kube_list *l, const char *data, size_t len,
                    int (*fn) (json_t *item, void *arg), void *arg, struct error *err)
{
    const char *end = data + len;
    int rc = 0;

    while (rc == 0 && data < end) {
        if (l->where == KUBE_LIST_AROUND)
            rc = read_around (l, &data, end, err);
        else if (l->where == KUBE_LIST_BETWEEN)
            rc = read_between (l, &data, err);
        else
            rc = read_item (l, &data, end, fn, arg, err);
    }
    return rc;
}

int kube_list_end (struct kube_list *l, char *ret_version, size_t size, struct error *err)
{
    autojson json_t *list =
        json_parse (l->around.buf ? l->around.buf : "", l->around.len, "list", err);
    json_t *items = json_object_get (list, "items");
    const char *version = json_string_value (
        json_object_get (json_object_get (list, "metadata"), "resourceVersion"));

    if (!list)
        return -EBADMSG;
    if ((!json_is_array (items) && !json_is_null (items)) || json_array_size (items) > 0
        || !version || strlen (version) >= size)
        return error_set (err, EBADMSG, "the answer is not a list");
    snprintf (ret_version, size, "%s", version);
    return 0;
}
