/* test_frame.c - tests of frame.h: round trips, truncated frames, malformed frames */
#include "common/test/unit.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "common/macros.h"
#include "protocol/frame.h"

static size_t make (const struct frame *f, uint8_t *buf)
{
    frame_encode_head (f, buf);
    memcpy (buf + FRAME_HEAD, f->data, f->len);
    return FRAME_HEAD + f->len;
}

static void test_round_trip (void **state)
{
    struct frame in = { FRAME_OUTPUT, 2, 0x01020304, 0xfffffffe, 5, "a\0b\n\xff" };
    uint8_t buf[64];
    struct frame out;

    (void)state;
    size_t size = make (&in, buf);
    assert_int_equal (buf[4], 4); /* little endian on any machine */
    assert_int_equal (frame_parse (buf, size + 10, &out), size);
    assert_int_equal (out.type, FRAME_OUTPUT);
    assert_int_equal (out.stream, 2);
    assert_int_equal (out.rank, 0x01020304);
    assert_int_equal (out.task, 0xfffffffe);
    assert_int_equal (out.len, 5);
    assert_memory_equal (out.data, "a\0b\n\xff", 5);
}

static void test_cut_anywhere_asks_for_more (void **state)
{
    struct frame in = { FRAME_NOTE, 0, 0, 0, 10, "0123456789" };
    uint8_t buf[64];
    struct frame out;

    (void)state;
    size_t size = make (&in, buf);
    for (size_t n = 0; n < size; n++)
        assert_int_equal (frame_parse (buf, n, &out), 0);
    assert_int_equal (frame_parse (buf, size, &out), size);
}

static void test_malformed (void **state)
{
    static const struct {
        size_t at;
        uint8_t value;
    } spoils[] = {
        { 0, 0 }, { 0, 32 }, { 0, 255 }, { 1, 0 },    { 1, 3 },
        { 2, 1 }, { 3, 1 },  { 14, 2 },  { 15, 255 }, /* lengths of 128 KiB and 4 GiB */
    };
    struct frame in = { FRAME_OUTPUT, 1, 0, 0, 1, "x" };
    uint8_t buf[64];
    struct frame out;

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE (spoils); i++) {
        size_t size = make (&in, buf);
        buf[spoils[i].at] = spoils[i].value;
        assert_int_equal (frame_parse (buf, size, &out), -EBADMSG);
    }
    make (&in, buf);
    memcpy (buf + 12, "\xff\xff\xff\xff", 4);
    assert_int_equal (frame_parse (buf, sizeof (buf), &out), -EBADMSG);
    memcpy (buf + 12, "\x00\x00\x01\x00",
            4); /* the largest allowed length: more data is needed */
    assert_int_equal (frame_parse (buf, sizeof (buf), &out), 0);
}

/* A spool of a newer agent can be read: unknown frames are skipped. */
static void test_newer_types_are_frames (void **state)
{
    struct frame in = { FRAME_TYPES - 1, 9, 0, 0, 1, "x" };
    uint8_t buf[64];
    struct frame out;

    (void)state;
    size_t size = make (&in, buf);
    assert_int_equal (frame_parse (buf, size, &out), size);
    assert_int_equal (out.type, FRAME_TYPES - 1);
}

static void test_exit_status (void **state)
{
    uint8_t data[4] = { 0 }, buf[64];
    struct frame f = { FRAME_EXIT, 0, 1, 2, 4, (char *)data };
    struct frame out;

    (void)state;
    size_t size = make (&f, buf);
    assert_int_equal (frame_parse (buf, size, &out), size);
    f.len = 3;
    make (&f, buf);
    assert_int_equal (frame_parse (buf, size, &out), -EBADMSG);
}

static void test_finish_round_trip (void **state)
{
    struct frame_finish in = { 256, "timeout", "time limit = 60 s\nreached" };
    struct frame_finish out;
    char buf[320];

    (void)state;
    int n = frame_finish_encode (&in, buf, sizeof (buf));
    assert_true (n > 0 && (size_t)n < sizeof (buf));
    assert_int_equal (frame_finish_decode (buf, (size_t)n, &out), 0);
    assert_int_equal (out.status, 256);
    assert_string_equal (out.reason, "timeout");
    assert_string_equal (out.text, "time limit = 60 s reached");

    memset (in.text, 'x', sizeof (in.text) - 1);
    in.text[sizeof (in.text) - 1] = '\0';
    in.status = 65535;
    n = frame_finish_encode (&in, buf, sizeof (buf));
    assert_int_equal (frame_finish_decode (buf, (size_t)n, &out), 0);
    assert_string_equal (out.text, in.text);
    assert_int_equal (frame_finish_encode (&in, buf, 20), -ENOSPC);
    in.status = -1;
    assert_int_equal (frame_finish_encode (&in, buf, sizeof (buf)), -EINVAL);
    in.status = 0;
    snprintf (in.reason, sizeof (in.reason), "two words");
    assert_int_equal (frame_finish_encode (&in, buf, sizeof (buf)), -EINVAL);
}

static void test_finish_malformed (void **state)
{
    static const char good[] = "status=9 reason=lost text=node n1";
    static const char *const bad[] = {
        "status= reason=lost text=x",
        "status=-1 reason=lost text=x",
        "status=99999 reason=lost text=x",
        "status=4294967296 reason=lost text=x",
        "status=0 reason= text=x",
        "status=0 reason=Lost text=x",
        "status=0 reason=averyverylongword text=x",
        "status=0 text=x reason=lost",
        "reason=lost",
    };
    struct frame_finish out;

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE (bad); i++)
        assert_int_equal (frame_finish_decode (bad[i], strlen (bad[i]), &out), -EBADMSG);
    for (size_t n = 0; n < sizeof ("status=9 reason=lost text=") - 1; n++)
        assert_int_equal (frame_finish_decode (good, n, &out), -EBADMSG);
    assert_int_equal (frame_finish_decode (good, strlen (good), &out), 0);

    char text[1000]; /* a longer text is cut, not refused */
    int n = snprintf (text, sizeof (text), "status=0 reason=exited text=%0900d", 7);
    assert_int_equal (frame_finish_decode (text, (size_t)n, &out), 0);
    assert_int_equal (strlen (out.text), sizeof (out.text) - 1);
}

int main (void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test (test_round_trip),
        cmocka_unit_test (test_cut_anywhere_asks_for_more),
        cmocka_unit_test (test_malformed),
        cmocka_unit_test (test_newer_types_are_frames),
        cmocka_unit_test (test_exit_status),
        cmocka_unit_test (test_finish_round_trip),
        cmocka_unit_test (test_finish_malformed),
    };

    return cmocka_run_group_tests (tests, NULL, NULL);
}
