/* test_output_limit.c - tests of output_limit.h: the kept parts of an output that is too
 * long */
#include "common/test/unit.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/macros.h"
#include "protocol/output_limit.h"

#define MAX_BYTES ((uint64_t)2 << 20)

static char path[] = "/tmp/test_cut.XXXXXX";
static int fd = -1;
static uint64_t end;     /* of the file */
static uint32_t written; /* frames: each has its number in `task` */

static int set_up (void **state)
{
    (void)state;
    memcpy (path + sizeof (path) - 7, "XXXXXX", 6);
    fd = mkstemp (path);
    end = 0;
    written = 0;
    return fd < 0 ? -1 : 0;
}

static int tear_down (void **state)
{
    (void)state;
    close (fd);
    return unlink (path);
}

static void add (uint32_t len)
{
    static char buf[FRAME_HEAD + FRAME_DATA_MAX];
    struct frame f = { .type = FRAME_OUTPUT, .stream = 1, .task = written++, .len = len };

    frame_encode_head (&f, (uint8_t *)buf);
    memset (buf + FRAME_HEAD, 'x', len);
    assert_int_equal (pwrite (fd, buf, FRAME_HEAD + len, (off_t)end), FRAME_HEAD + len);
    end += FRAME_HEAD + len;
}

/* Reads like a reader: all frames from the first to the last, with at most one GAP
 * between. Returns the number of frames. */
static uint32_t walk (uint32_t *ret_gone)
{
    static char buf[FRAME_HEAD + FRAME_DATA_MAX];
    uint32_t n = 0, expected = 0;
    uint64_t at = 0, next;
    struct frame f;

    *ret_gone = 0;
    while (at < end) {
        ssize_t got = pread (fd, buf, 256, (off_t)at);
        ssize_t size = frame_parse (buf, (size_t)got, &f);
        if (size == 0) {
            got = pread (fd, buf, sizeof (buf), (off_t)at);
            size = frame_parse (buf, (size_t)got, &f);
        }

        assert_int_equal (size == -EBADMSG, output_gap_parse (buf, (size_t)got, &next));
        if (size == -EBADMSG) {
            assert_int_equal (*ret_gone, 0);
            assert_true (next > at && next < end);
            assert_int_equal (output_limit_find (fd, &next), 0);
            got = pread (fd, buf, sizeof (buf), (off_t)next);
            assert_true (frame_parse (buf, (size_t)got, &f) > 0);
            *ret_gone = f.task - expected;
            expected = f.task;
            at = next;
            continue;
        }
        assert_true (size > 0);
        assert_int_equal (f.task, expected);
        for (uint32_t i = 0; i < f.len; i++)
            assert_true (f.data[i] == 'x'); /* not a zero of a hole */
        expected++;
        n++;
        at += (uint64_t)size;
    }
    assert_int_equal (expected, written);
    return n;
}

static uint64_t blocks (void)
{
    struct stat st;

    assert_int_equal (fstat (fd, &st), 0);
    return (uint64_t)st.st_blocks * 512;
}

static void fill (struct output_limit *c, uint64_t bytes, uint32_t len)
{
    for (uint64_t to = end + bytes; end < to;) {
        add (len);
        assert_int_equal (output_limit_advance (c, fd, end), 0);
    }
}

static void test_first_and_newest_stay (void **state)
{
    static const uint32_t lens[] = { 0, 10, 1000, 4080, 65536 };
    uint32_t gone;

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE (lens); i++) {
        struct output_limit c;

        tear_down (state);
        set_up (state);
        output_limit_init (&c, fd, MAX_BYTES);
        assert_true (c.max == MAX_BYTES);
        fill (&c, MAX_BYTES - 70000, lens[i]);
        walk (&gone);
        assert_int_equal (gone, 0); /* nothing is removed too early */
        fill (&c, 5 * MAX_BYTES, lens[i]);
        uint32_t kept = walk (&gone);
        assert_true (gone > 0 && kept + gone == written);
        assert_true (c.at >= MAX_BYTES / 16 && c.at < MAX_BYTES / 16 + 70000);
        assert_true (end - c.next > MAX_BYTES / 2);
        assert_true (blocks () <= MAX_BYTES + 3 * 65536);
    }
}

/* The smallest limit and the largest frames: the GAP must not cover kept data. */
static void test_tight (void **state)
{
    struct output_limit c;
    uint32_t gone;

    (void)state;
    output_limit_init (&c, fd, SPOOL_MAX_LEAST);
    for (int i = 0; i < 200; i++) {
        fill (&c, 1, i % 2 ? 65536 : 3);
        walk (&gone);
    }
    assert_true (gone > 0);
}

/* The answer of output_limit_before_hole() for the present content. */
static size_t before_hole (uint64_t from, size_t n)
{
    static char buf[1 << 20];
    size_t done = 0;

    while (done < n) {
        size_t piece = MIN (n - done, sizeof (buf));
        ssize_t got = pread (fd, buf, piece, (off_t)(from + done));
        assert_int_equal (got, piece);
        size_t before = output_limit_before_hole (fd, from + done, buf, piece);
        done += before;
        if (before < piece)
            break;
    }
    return done;
}

/* A reader in the middle learns the place of the hole. */
static void test_overtaken (void **state)
{
    struct output_limit c;
    uint64_t next, middle;

    (void)state;
    output_limit_init (&c, fd, MAX_BYTES);
    fill (&c, MAX_BYTES / 2, 1000);
    assert_int_equal (output_limit_find (fd, &next), -ENOENT);
    middle = end;
    assert_int_equal (before_hole (0, end), end);
    fill (&c, 3 * MAX_BYTES, 1000);
    assert_true (before_hole (middle, 1 << 16) < 1 << 16);
    assert_int_equal (output_limit_find (fd, &next), 0);
    assert_true (next > middle);
    assert_int_equal (before_hole (next, end - next), end - next);
}

/* Written zeros are not a hole. */
static void test_zeros (void **state)
{
    static char buf[1 << 16];

    (void)state;
    assert_int_equal (pwrite (fd, buf, sizeof (buf), 4096), sizeof (buf));
    assert_int_equal (before_hole (4096, sizeof (buf)), sizeof (buf));
    assert_int_equal (before_hole (100, sizeof (buf)), sizeof (buf));
    assert_int_equal (before_hole (0, sizeof (buf)), 0);
}

static void test_none (void **state)
{
    struct output_limit c;
    uint32_t gone;

    (void)state;
    output_limit_init (&c, fd, 0);
    fill (&c, 2 * MAX_BYTES, 60000);
    walk (&gone);
    assert_int_equal (gone, 0);
}

/* The user can write anything into the file: no frames, or a GAP to a wrong place. */
static void test_hostile (void **state)
{
    struct output_limit c;
    uint8_t buf[OUTPUT_GAP_SIZE] = { 0xcc };
    uint64_t next;

    (void)state;
    output_limit_init (&c, fd, SPOOL_MAX_LEAST);
    end = 4 * SPOOL_MAX_LEAST;
    assert_int_equal (ftruncate (fd, (off_t)end), 0);
    assert_int_equal (output_limit_advance (&c, fd, end), -EBADMSG);
    assert_int_equal (c.at, 0);
    assert_int_equal (output_limit_find (fd, &next), -EBADMSG);
    assert_int_equal (pwrite (fd, buf, sizeof (buf), 0), sizeof (buf));
    assert_int_equal (output_limit_find (fd, &next), -EBADMSG); /* back to itself */
    memset (buf + FRAME_HEAD, 0xff, 8);
    assert_false (output_gap_parse (buf, sizeof (buf), &next));
    buf[1] = 1;
    assert_false (output_gap_parse (buf, sizeof (buf), &next));
}

int main (void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown (test_first_and_newest_stay, set_up, tear_down),
        cmocka_unit_test_setup_teardown (test_tight, set_up, tear_down),
        cmocka_unit_test_setup_teardown (test_overtaken, set_up, tear_down),
        cmocka_unit_test_setup_teardown (test_zeros, set_up, tear_down),
        cmocka_unit_test_setup_teardown (test_none, set_up, tear_down),
        cmocka_unit_test_setup_teardown (test_hostile, set_up, tear_down),
    };

    return cmocka_run_group_tests (tests, NULL, NULL);
}
