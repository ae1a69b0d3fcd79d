/* test_sha256.c - tests of sha256.h: known answers of SHA-256 and HMAC */
#include "common/test/unit.h"

#include <errno.h>
#include <string.h>

#include "common/macros.h"
#include "common/sha256.h"

static void check_hex (const uint8_t *digest, const char *want)
{
    char hex[SHA256_HEX_SIZE];

    hex_encode (digest, SHA256_SIZE, hex);
    assert_string_equal (hex, want);
}

/* FIPS 180-4 examples (NIST), and a million 'a'. */
static void test_sha256_known_answers (void **state)
{
    static const struct {
        const char *text, *digest;
    } cases[] = {
        { "", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855" },
        { "abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad" },
        { "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
          "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1" },
    };
    struct sha256 ctx;
    uint8_t digest[SHA256_SIZE];

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE (cases); i++) {
        sha256_init (&ctx);
        sha256_update (&ctx, cases[i].text, strlen (cases[i].text));
        sha256_final (&ctx, digest);
        check_hex (digest, cases[i].digest);
    }
    sha256_init (&ctx);
    for (int i = 0; i < 100000; i++)
        sha256_update (&ctx, "aaaaaaaaaa", 10);
    sha256_final (&ctx, digest);
    check_hex (digest,
               "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

/* For any division of the data, and for each length near a block, the digest is the
 * same. */
static void test_sha256_in_pieces (void **state)
{
    uint8_t data[200], whole[SHA256_SIZE], pieces[SHA256_SIZE];
    struct sha256 ctx;

    (void)state;
    for (size_t i = 0; i < sizeof (data); i++)
        data[i] = (uint8_t)(i * 7);
    for (size_t len = 0; len <= sizeof (data); len++) {
        sha256_init (&ctx);
        sha256_update (&ctx, data, len);
        sha256_final (&ctx, whole);
        for (size_t cut = 0; cut <= len; cut += 13) {
            sha256_init (&ctx);
            sha256_update (&ctx, data, cut);
            sha256_update (&ctx, data + cut, len - cut);
            sha256_final (&ctx, pieces);
            assert_memory_equal (whole, pieces, SHA256_SIZE);
        }
    }
}

/* RFC 4231, cases 1, 2, 6 and 7. */
static void test_hmac_known_answers (void **state)
{
    static const char long_text[] =
        "This is a test using a larger than block-size key and a "
        "larger than block-size data. The key needs to be hashed "
        "before being used by the HMAC algorithm.";
    uint8_t key[131], mac[SHA256_SIZE];

    (void)state;
    memset (key, 0x0b, 20);
    hmac_sha256 (key, 20, "Hi There", 8, mac);
    check_hex (mac, "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7");
    hmac_sha256 ("Jefe", 4, "what do ya want for nothing?", 28, mac);
    check_hex (mac, "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
    memset (key, 0xaa, sizeof (key));
    hmac_sha256 (key, sizeof (key),
                 "Test Using Larger Than Block-Size Key - Hash Key First", 54, mac);
    check_hex (mac, "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54");
    hmac_sha256 (key, sizeof (key), long_text, sizeof (long_text) - 1, mac);
    check_hex (mac, "9b09ffa71b942fcb27635fbcd5b0e944bfdc63644f0713938a7f51535c3a35e2");
}

static void test_secrets (void **state)
{
    uint8_t a[32], b[32], zero[32] = { 0 };

    (void)state;
    assert_int_equal (secret_random (a, sizeof (a)), 0);
    assert_int_equal (secret_random (b, sizeof (b)), 0);
    assert_false (secret_equal (a, b, sizeof (a)));
    memcpy (b, a, sizeof (a));
    assert_true (secret_equal (a, b, sizeof (a)));
    b[31] ^= 1;
    assert_false (secret_equal (a, b, sizeof (a)));
    assert_true (secret_equal (a, b, 31));
    assert_true (secret_equal (a, b, 0));
    secret_wipe (a, sizeof (a));
    assert_memory_equal (a, zero, sizeof (a));
}

static void test_hex (void **state)
{
    uint8_t out[3] = { 9, 9, 9 };
    char text[7];

    (void)state;
    hex_encode ("\x00\x7f\xff", 3, text);
    assert_string_equal (text, "007fff");
    assert_int_equal (hex_decode ("007FfF", out, 3), 0);
    assert_memory_equal (out, "\x00\x7f\xff", 3);
    assert_int_equal (hex_decode ("007ff", out, 3), -EINVAL);
    assert_int_equal (hex_decode ("007fff0", out, 3), -EINVAL);
    assert_int_equal (hex_decode ("007ffg", out, 3), -EINVAL);
    assert_int_equal (hex_decode ("", out, 3), -EINVAL);
    assert_int_equal (hex_decode ("", out, 0), 0);
}

int main (void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test (test_sha256_known_answers),
        cmocka_unit_test (test_sha256_in_pieces),
        cmocka_unit_test (test_hmac_known_answers),
        cmocka_unit_test (test_secrets),
        cmocka_unit_test (test_hex),
    };

    return cmocka_run_group_tests (tests, NULL, NULL);
}
