/* test_text.c - base64, UTF-8, names and the splitting of words
 */
#include "common/test/unit.h"

#include <errno.h>
#include <string.h>

#include "jobspec/attributes/base64.h"
#include "jobspec/attributes/text.h"
#include "jobspec/script/words.h"

/* RFC 4648, section 10, and that every byte comes back */
static void test_base64 (void **state)
{
    static const char *const known[][2] = {
        { "", "" },
        { "f", "Zg==" },
        { "fo", "Zm8=" },
        { "foo", "Zm9v" },
        { "foob", "Zm9vYg==" },
        { "fooba", "Zm9vYmE=" },
        { "foobar", "Zm9vYmFy" },
    };
    unsigned char all[259], back[BASE64_DECODED (BASE64_ENCODED (sizeof (all)))];
    char text[BASE64_ENCODED (sizeof (all)) + 1];

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE (known); i++) {
        size_t len = strlen (known[i][0]);

        base64_encode (known[i][0], len, text);
        assert_string_equal (text, known[i][1]);
        assert_int_equal (base64_decode (text, strlen (text), back), len);
        assert_memory_equal (back, known[i][0], len);
    }
    for (size_t i = 0; i < sizeof (all); i++)
        all[i] = (unsigned char)(i * 7);
    for (size_t len = 0; len <= sizeof (all); len++) {
        base64_encode (all, len, text);
        assert_int_equal (strlen (text), BASE64_ENCODED (len));
        assert_int_equal (base64_decode (text, strlen (text), back), len);
        assert_memory_equal (back, all, len);
    }
}

/* two texts must not mean the same bytes, and no byte may be dropped silently */
static void test_base64_strict (void **state)
{
    static const char *const bad[] = { "Z",        "Zg",     "Zg=",  "Zh==",
                                       "Zm9=",     "Z===",   "====", "Zm 8",
                                       "Zg==Zg==", "Zm9v\n", "Zm-v", "=m9v" };
    unsigned char out[16];

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE (bad); i++)
        assert_int_equal (base64_decode (bad[i], strlen (bad[i]), out), -EINVAL);
}

static void test_utf8 (void **state)
{
    static const char *const good[] = { "",
                                        "plain",
                                        "\xc3\xa9",
                                        "\xe2\x82\xac",
                                        "\xf0\x9f\x98\x80",
                                        "\xed\x9f\xbf",
                                        "\xf4\x8f\xbf\xbf",
                                        "\xc2\x80" };
    static const char *const bad[] = { "\x80",         "\xc3",
                                       "\xc0\xaf",     "\xe0\x9f\xbf",
                                       "\xed\xa0\x80", "\xf4\x90\x80\x80",
                                       "\xf5",         "\xf0\x8f\xbf\xbf",
                                       "a\xe2\x82",    "\xe2\x28\xa1",
                                       "\xff",         "\xc1\xbf" };
    size_t size;

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE (good); i++)
        assert_true (text_is_utf8 (good[i], strlen (good[i]), NULL));
    for (size_t i = 0; i < ARRAY_SIZE (bad); i++)
        assert_false (text_is_utf8 (bad[i], strlen (bad[i]), NULL));
    /* the length cuts a character, not a NUL */
    assert_false (text_is_utf8 ("\xe2\x82\xac", 2, NULL));
    assert_true (text_is_utf8 ("a\"\\\n\x01\xc3\xa9", 7, &size));
    assert_int_equal (size, 1 + 2 + 2 + 2 + 6 + 2);
}

static void test_names (void **state)
{
    char longest[260];

    (void)state;
    memset (longest, 'a', sizeof (longest));
    longest[253] = '\0';
    assert_true (text_is_name (longest));
    longest[253] = 'a';
    longest[254] = '\0';
    assert_false (text_is_name (longest));
    assert_true (text_is_name ("nvidia.com/gpu"));
    assert_false (text_is_name (""));
    assert_false (text_is_name ("../x"));
    assert_false (text_is_name ("a b"));
    assert_true (text_is_line ("my \xc3\xa9 job", 255));
    assert_false (text_is_line ("", 255));
    assert_false (text_is_line ("abc", 2));
    assert_false (text_is_line ("a\nb", 255));
    assert_false (text_is_line ("a\x1b[2J", 255));
    assert_false (text_is_line ("\xc2\x9b", 255)); /* CSI */
    assert_true (text_is_variable ("BASH_FUNC_ml%%", 14));
    assert_false (text_is_variable ("A=B", 3));
    assert_false (text_is_variable ("", 0));
}

static void check_words (enum words_rules rules, const char *text,
                         const char *const want[])
{
    struct error err = { 0 };
    struct words w;
    size_t n = 0;

    if (words_split (&w, text, strlen (text), rules, &err) < 0)
        fail_msg ("%s: %s", text, err.text);
    while (want[n])
        n++;
    assert_int_equal (w.argc, n + 1);
    for (size_t i = 0; i < n; i++)
        assert_string_equal (w.argv[i + 1], want[i]);
    assert_null (w.argv[w.argc]);
    words_release (&w);
}

#define WORDS(rules, text, ...)                                                          \
    check_words (rules, text, (const char *const[]){ __VA_ARGS__ __VA_OPT__ (, ) NULL })

static void test_words_sbatch (void **state)
{
    (void)state;
    WORDS (WORDS_SBATCH, "");
    WORDS (WORDS_SBATCH, "  # only a comment");
    WORDS (WORDS_SBATCH, " -N 2\t-n4 ", "-N", "2", "-n4");
    WORDS (WORDS_SBATCH, "--time=10 # ten minutes", "--time=10");
    WORDS (WORDS_SBATCH, "-J a#b", "-J", "a"); /* like sbatch */
    WORDS (WORDS_SBATCH, "-J 'a #b' --mem=1", "-J", "a #b", "--mem=1");
    WORDS (WORDS_SBATCH, "-J \"a b\"c", "-J", "a bc");
    WORDS (WORDS_SBATCH, "-J a\\ b\\#c", "-J", "a b#c");
    WORDS (WORDS_SBATCH, "-J 'it\\'s'", "-J", "it's");
    WORDS (WORDS_SBATCH, "--comment=\"\" -N1", "--comment=", "-N1");
    WORDS (WORDS_SBATCH, "a b c d e f g h i j k l m n o p q", "a", "b", "c", "d", "e",
           "f", "g", "h", "i", "j", "k", "l", "m", "n", "o", "p", "q");
}

static void test_words_posix (void **state)
{
    (void)state;
    WORDS (WORDS_POSIX, "-N4 # -c2 : later", "-N4");
    WORDS (WORDS_POSIX, "a 'b c'\"d e\" ''", "a", "b cd e", "");
    WORDS (WORDS_POSIX, "'a\\b' \"a\\b\\\"\\$\" a\\b", "a\\b", "a\\b\"$", "ab");
    WORDS (WORDS_POSIX, "--j='''It's a \"job\"''' -x", "--j=It's a \"job\"", "-x");
    WORDS (WORDS_POSIX, "\"\"\"{\"key\": 42}\"\"\"", "{\"key\": 42}");
    WORDS (WORDS_POSIX, "'''a\n  b\n'''", "a\n  b\n");
    WORDS (WORDS_POSIX, "''''''", "");
}

static void test_words_not_closed (void **state)
{
    static const char *const bad[] = { "'a", "\"a", "a 'b", "a b\"'" };
    struct error err;
    struct words w;

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE (bad); i++) {
        size_t len = strlen (bad[i]);

        assert_int_equal (words_split (&w, bad[i], len, WORDS_SBATCH, &err), -EINVAL);
        assert_int_equal (words_split (&w, bad[i], len, WORDS_POSIX, &err), -EINVAL);
        assert_non_null (strstr (err.text, "not closed"));
    }
    assert_int_equal (words_split (&w, "'''a''", 6, WORDS_POSIX, &err), -EINVAL);
}

int main (void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test (test_base64),
        cmocka_unit_test (test_base64_strict),
        cmocka_unit_test (test_utf8),
        cmocka_unit_test (test_names),
        cmocka_unit_test (test_words_sbatch),
        cmocka_unit_test (test_words_posix),
        cmocka_unit_test (test_words_not_closed),
    };

    return cmocka_run_group_tests (tests, NULL, NULL);
}
