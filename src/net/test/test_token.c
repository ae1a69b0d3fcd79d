/* test_token.c - tokens: who is let in, and which keys are accepted */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

#include "common/io.h"
#include "net/token.h"

#define NOW 1000000
#define SECRET "0123456789abcdef0123456789abcdef"

static char folder[] = "/tmp/test-token-XXXXXX";

static const char *write_file (const char *name, const char *text, mode_t mode)
{
    static char path[128];

    snprintf (path, sizeof (path), "%s/%s", folder, name);
    assert_int_equal (io_write_file_atomic (path, text, strlen (text), mode, NULL), 0);
    assert_int_equal (chmod (path, mode), 0);
    return path;
}

static struct token_key *make_key (const char *secret)
{
    struct error err = { 0 };
    struct token_key *key = token_key_read (write_file ("key", secret, 0600), NULL, &err);

    if (!key)
        fail_msg ("%s", err.text);
    return key;
}

static int start (void **state)
{
    (void)state;
    return mkdtemp (folder) ? 0 : -1;
}

static int stop (void **state)
{
    (void)state;
    return io_remove_tree (folder, NULL);
}

static void test_round_trip (void **state)
{
    struct token_key *key = make_key (SECRET);
    char *text = token_make (key, "ann", NOW, NOW + 10, NULL);
    struct token token;

    (void)state;
    assert_non_null (text);
    assert_true (token_key_can_sign (key));
    assert_int_equal (token_read (key, text, NOW + 9, &token, NULL), 0);
    assert_string_equal (token.user, "ann");
    assert_int_equal (token.issued, NOW);
    assert_int_equal (token.expires, NOW + 10);
    assert_int_equal (token_claims (text, &token), 0);
    assert_int_equal (token_read (key, text, NOW + 10, &token, NULL), -EACCES);
    free (text);
    token_key_release (key);
}

/* Each change of a byte makes the token invalid. */
static void test_changed (void **state)
{
    struct token_key *key = make_key (SECRET), *other = make_key (SECRET "x");
    char *text = token_make (key, "ann", NOW, NOW + 10, NULL);
    struct token token;

    (void)state;
    assert_non_null (text);
    assert_int_equal (token_read (other, text, NOW, &token, NULL), -EACCES);
    for (size_t i = 0; i + 1 < strlen (text); i++) {
        char was = text[i];
        text[i] = was == 'A' ? 'B' : 'A';
        assert_int_equal (token_read (key, text, NOW, &token, NULL), -EACCES);
        text[i] = was;
    }
    assert_int_equal (token_read (key, text, NOW, &token, NULL), 0);
    free (text);
    token_key_release (key);
    token_key_release (other);
}

static void test_garbage (void **state)
{
    static const char *const texts[] = {
        "",
        ".",
        "..",
        "...",
        "a.b.c",
        "e30.e30.",
        "e30.e30.e30",
        /* {"alg":"none"} {"sun":"root","iat":1,"exp":9999999} */
        "eyJhbGciOiJub25lIn0.eyJzdW4iOiJyb290IiwiaWF0IjoxLCJleHAiOjk5OTk5OTl9.",
    };
    struct token_key *key = make_key (SECRET);
    char large[TOKEN_MAX + 2];
    struct token token;

    (void)state;
    memset (large, 'A', sizeof (large) - 1);
    large[sizeof (large) - 1] = '\0';
    assert_int_equal (token_read (key, large, NOW, &token, NULL), -EACCES);
    assert_int_equal (token_claims (large, &token), -EACCES);
    for (size_t i = 0; i < ARRAY_SIZE (texts); i++)
        assert_int_equal (token_read (key, texts[i], NOW, &token, NULL), -EACCES);
    token_key_release (key);
}

static void refused (const char *secret, const char *public, const char *reason)
{
    struct error err = { 0 };

    assert_null (token_key_read (secret, public, &err));
    if (!strstr (err.text, reason))
        fail_msg ("%s", err.text);
}

static void test_key_files (void **state)
{
    (void)state;
    refused (write_file ("short", "short", 0600), NULL, "a secret needs 32");
    refused (write_file ("open", SECRET, 0640), NULL, "lets others read");
    refused (write_file ("wide", SECRET, 0602), NULL, "lets others");
    refused (folder, NULL, "not a regular file");
    refused ("/nonexistent/key", NULL, "No such file");
    refused (NULL, write_file ("public", SECRET, 0644), "not a public key");
    refused (NULL, write_file ("public", SECRET, 0666), "lets others write");
}

int main (void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test (test_round_trip),
        cmocka_unit_test (test_changed),
        cmocka_unit_test (test_garbage),
        cmocka_unit_test (test_key_files),
    };

    return cmocka_run_group_tests (tests, start, stop);
}
