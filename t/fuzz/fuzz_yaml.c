/* fuzz_yaml.c - any bytes as YAML, and as JSON; an accepted text is written as JSON and reads
 * back as the same values in both
 *
 * Parser: common/yaml.c common/json.c
 */
#include "fuzz.h"

#include "common/yaml.h"

/* JSON is YAML, except for characters beyond 16 bits. */
static void check_yaml (const char *text, const json_t *v)
{
    struct error err = { 0 };

    if (strstr (text, "\\uD"))
        return;
    struct yaml_doc *doc = yaml_load (text, strlen (text), "again", &err);

    if (doc)
        assert (json_equal (yaml_root (doc), (json_t *)v));
    else
        fuzz_check_refusal (&err, "again:");
    yaml_destroy (doc);
}

static void check_getters (const json_t *v)
{
    struct error err = { 0 };
    const char *text = "unset";
    int64_t n = 7;
    double d = 7;
    bool b = false;
    json_t *child = NULL;

    if (json_get_string (v, "a", &text, JSON_REQUIRED, "x", &err) < 0)
        fuzz_check_refusal (&err, "x");
    if (json_get_int (v, "a", 1, 9, &n, JSON_OPTIONAL_KEY, NULL, &err) < 0)
        assert (err.code == EINVAL || err.code == ERANGE);
    assert (n >= 1 && n <= 9);
    if (json_get_double (v, "a", 1, 9, &d, JSON_OPTIONAL_KEY, "x", &err) < 0)
        fuzz_check_refusal (&err, "x");
    assert (d >= 1 && d <= 9);
    json_get_bool (v, "a", &b, JSON_OPTIONAL_KEY, "x", &err);
    json_get_object (v, "a", &child, JSON_OPTIONAL_KEY, "x", &err);
    json_get_array (v, "a", &child, JSON_OPTIONAL_KEY, "x", &err);
    static const char *const keys[] = { "a", "b", NULL };
    if (json_is_object (v) && json_only_keys (v, keys, "x", &err) < 0)
        fuzz_check_refusal (&err, "x");
    assert (json_text (v, "a") && json_type_name (v));
}

static void check_json (const char *text, size_t len)
{
    struct error err = { 0 };
    autojson json_t *v = json_parse (text, len, "x", &err), *again = NULL;

    if (!v) {
        fuzz_check_refusal (&err, "x: ");
        return;
    }
    check_getters (v);
    autostrbuf struct strbuf sb = STRBUF_INIT (1 << 20);
    assert (strbuf_add_json_value (&sb, v) == 0);
    again = json_parse (sb.buf, sb.len, "x", &err);
    assert (again && json_equal (v, again));
}

int LLVMFuzzerTestOneInput (const uint8_t *data, size_t size)
{
    struct error err = { 0 };
    struct yaml_doc *doc;

    check_json ((const char *)data, size);
    doc = yaml_load ((const char *)data, size, "x", &err);
    if (!doc) {
        fuzz_check_refusal (&err, "x:");
        return 0;
    }
    json_t *root = yaml_root (doc);
    autofree char *text = json_dumps (root, JSON_ENCODE_ANY | JSON_ENSURE_ASCII);
    assert (text);
    check_yaml (text, root);
    assert (yaml_error (doc, root, NULL, &err, "here") == -EINVAL);
    fuzz_check_refusal (&err, "x:");
    yaml_error (doc, root, "a", &err, "there");
    yaml_destroy (doc);
    return 0;
}
