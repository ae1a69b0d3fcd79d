/* test_spool.c - tests of spool.h and stream.h: order, ceilings, failed writes */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <signal.h>
#include <unistd.h>
#include <cmocka.h>

#include "common/macros.h"
#include "shell/io/spool.h"
#include "shell/io/stream.h"

static char path[64];

static int set_up (void **state)
{
    (void)state;
    snprintf (path, sizeof (path), "/tmp/test_spool.%d", (int)getpid ());
    unlink (path);
    return 0;
}

static int tear_down (void **state)
{
    (void)state;
    return unlink (path);
}

static void add (struct spool *spool, int type, const char *data, size_t len)
{
    struct frame f = {
        .type = (uint8_t)type, .stream = 1, .len = (uint32_t)len, .data = data
    };
    assert_int_equal (spool_append (spool, &f), 0);
}

/* Walks the file: returns the number of complete frames; fails if the file does not end
 * with a complete one. */
static int count_frames (const struct spool *spool, uint64_t from)
{
    static char buf[1 << 20];
    ssize_t len = spool_read (spool, from, buf, sizeof (buf));
    int n = 0;
    for (ssize_t at = 0, size; at < len; at += size, n++) {
        struct frame f;
        size = frame_parse (buf + at, (size_t)(len - at), &f);
        assert_true (size > 0);
    }
    return n;
}

static void a_spool_is_created_once (void **state)
{
    (void)state;
    struct spool spool, second;
    assert_int_equal (spool_create (&spool, path, 0, NULL), 0);
    add (&spool, FRAME_READY, NULL, 0);
    assert_int_equal (spool_create (&second, path, 0, NULL), -EEXIST);
    assert_int_equal (spool_flush (&spool), 0);
    assert_int_equal (count_frames (&spool, 0), 1);
    spool_close (&spool);
}

static void small_and_large_frames_keep_their_order (void **state)
{
    (void)state;
    struct spool spool;
    static char big[FRAME_DATA_MAX];
    assert_int_equal (spool_create (&spool, path, 0, NULL), 0);
    add (&spool, FRAME_OUTPUT, "a", 1);
    assert_int_equal (spool.written, 0); /* batched */
    add (&spool, FRAME_OUTPUT, big, sizeof (big));
    add (&spool, FRAME_OUTPUT, "b", 1);
    assert_int_equal (spool.len, 3 * FRAME_HEAD + 2 + sizeof (big));
    assert_int_equal (spool_flush (&spool), 0);
    assert_int_equal (spool.written, spool.len);
    assert_int_equal (count_frames (&spool, 0), 3);
    spool_close (&spool);
    struct stat st;
    assert_int_equal (stat (path, &st), 0);
    assert_true (st.st_blocks * 512
                 < 128 * 1024); /* space allocated in advance is given back */
}

static void full_is_what_the_broker_has_not_released (void **state)
{
    (void)state;
    struct spool spool;
    char data[100] = "";
    assert_int_equal (spool_create (&spool, path, 200, NULL), 0);
    add (&spool, FRAME_OUTPUT, data, sizeof (data));
    assert_false (spool_full (&spool));
    add (&spool, FRAME_OUTPUT, data, sizeof (data));
    assert_true (spool_full (&spool));
    assert_int_equal (spool_release_until (&spool, 233), -EINVAL);
    spool_flush (&spool);
    assert_int_equal (spool_release_until (&spool, 116), 0);
    assert_false (spool_full (&spool));
    assert_int_equal (spool_release_until (&spool, 50), 0); /* never backwards */
    assert_int_equal (spool.released, 116);
    assert_int_equal (spool_release_until (&spool, 232), 0);
    assert_int_equal (spool_release_until (&spool, 233), -EINVAL);
    spool_close (&spool);
}

/* A full disk, made by a limit on the size of files: later output is lost, but the file
 * still ends with a complete frame, and continues with one when there is room. */
static void a_failed_write_leaves_whole_frames (void **state)
{
    (void)state;
    struct spool spool;
    static char big[FRAME_DATA_MAX];
    struct rlimit old, small = { 100000, RLIM_INFINITY };
    struct frame f = {
        .type = FRAME_OUTPUT, .stream = 1, .len = sizeof (big), .data = big
    };
    assert_int_equal (spool_create (&spool, path, 0, NULL), 0);
    spool.no_alloc = true;
    signal (SIGXFSZ, SIG_IGN);
    getrlimit (RLIMIT_FSIZE, &old);
    small.rlim_max = old.rlim_max;
    setrlimit (RLIMIT_FSIZE, &small);
    assert_int_equal (spool_append (&spool, &f), 0);
    assert_int_equal (spool_append (&spool, &f), -EFBIG);
    assert_int_equal (spool_append (&spool, &f), -EFBIG);
    assert_int_equal (spool.err, EFBIG);
    add (&spool, FRAME_FINISH, "x", 1); /* there is room for this one */
    assert_int_equal (spool_flush (&spool), 0);
    setrlimit (RLIMIT_FSIZE, &old);
    assert_int_equal (count_frames (&spool, 0), 2);
    assert_int_equal (spool.written, 2 * FRAME_HEAD + sizeof (big) + 1);
    spool_close (&spool);
}

/* Everything that a reader gets, until there is nothing more; chunks are decoded. */
static size_t drain (struct stream *s, const struct spool *spool, char *buf, size_t size,
                     int *ret_rc)
{
    struct outbuf out = { 0 };
    int rc;
    while ((rc = stream_fill (s, spool, &out)) == 1)
        continue;
    *ret_rc = rc;
    size_t len = 0;
    for (size_t at = out.off; at < out.off + out.len;) {
        char *end;
        size_t n = s->chunked ? strtoul (out.data + at, &end, 16) : out.len;
        if (s->chunked)
            at = (size_t)(end - out.data) + 2;
        assert_true (len + n <= size);
        memcpy (buf + len, out.data + at, n);
        len += n;
        at += n + (s->chunked ? 2 : 0);
    }
    outbuf_release (&out);
    return len;
}

static void a_stream_is_the_spool_from_any_offset (void **state)
{
    (void)state;
    struct spool spool;
    static char whole[300000], got[300000], data[50000];
    int rc;
    for (size_t i = 0; i < sizeof (data); i++)
        data[i] = (char)(i % 253);
    assert_int_equal (spool_create (&spool, path, 0, NULL), 0);
    for (int i = 0; i < 4; i++)
        add (&spool, FRAME_OUTPUT, data, sizeof (data));
    spool_flush (&spool);
    struct stream s = { .pos = 0, .output = true };
    assert_int_equal (drain (&s, &spool, whole, sizeof (whole), &rc), spool.len);
    assert_int_equal (rc, 0); /* the job goes on */
    add (&spool, FRAME_FINISH, "end", 3);
    spool_flush (&spool);
    assert_int_equal (drain (&s, &spool, whole + s.pos, 1000, &rc), FRAME_HEAD + 3);
    assert_int_equal (rc, 2);
    for (uint64_t from = 0; from < spool.len; from += 9973) {
        s = (struct stream){ .pos = from, .output = true, .chunked = from % 2 };
        assert_int_equal (drain (&s, &spool, got, sizeof (got), &rc), spool.len - from);
        assert_int_equal (rc, 2);
        assert_memory_equal (got, whole + from, spool.len - from);
    }
    spool_release_until (&spool, 100000);
    s = (struct stream){ .pos = 99999, .output = true };
    drain (&s, &spool, got, sizeof (got), &rc);
    assert_int_equal (rc, -ESTALE); /* zeros from a hole must never count as output */
    spool_close (&spool);
}

static void events_come_without_the_output_between_them (void **state)
{
    (void)state;
    struct spool spool;
    static char big[FRAME_DATA_MAX], got[4096];
    int rc;
    assert_int_equal (spool_create (&spool, path, 0, NULL), 0);
    add (&spool, FRAME_READY, NULL, 0);
    for (int i = 0; i < 50; i++)
        add (&spool, FRAME_OUTPUT, big, sizeof (big));
    add (&spool, FRAME_NOTE, "note", 4);
    for (int i = 0; i < 5000; i++)
        add (&spool, FRAME_OUTPUT, "x", 1);
    add (&spool, FRAME_FINISH, "end", 3);
    spool_flush (&spool);
    struct stream s = { .output = false, .chunked = true };
    assert_int_equal (drain (&s, &spool, got, sizeof (got), &rc), 3 * FRAME_HEAD + 7);
    assert_int_equal (rc, 2);
    assert_int_equal (got[0], FRAME_READY);
    assert_int_equal (got[FRAME_HEAD], FRAME_NOTE);
    assert_int_equal (got[2 * FRAME_HEAD + 4], FRAME_FINISH);
    s = (struct stream){ .pos = 3, .output = false };
    drain (&s, &spool, got, sizeof (got), &rc);
    assert_int_equal (rc, -EBADMSG); /* not at the head of a frame */
    spool_close (&spool);
}

/* Excess output is removed from the middle: events still arrive, and a reader of the
 * output is informed rather than given wrong data. */
static void a_bounded_spool_is_cut_in_the_middle (void **state)
{
    (void)state;
    struct spool spool;
    struct stat st;
    static char big[FRAME_DATA_MAX], got[1 << 20];
    int rc;
    memset (big, 'x', sizeof (big));
    assert_int_equal (spool_create (&spool, path, 0, NULL), 0);
    spool_keep (&spool, SPOOL_MAX_LEAST);
    add (&spool, FRAME_READY, NULL, 0);
    struct stream behind = { .pos = 0, .output = false }, reader = { .output = true };
    for (int i = 0; i < 200; i++)
        add (&spool, FRAME_OUTPUT, big, sizeof (big));
    add (&spool, FRAME_FINISH, "end", 3);
    spool_flush (&spool);
    assert_int_equal (drain (&behind, &spool, got, sizeof (got), &rc),
                      2 * FRAME_HEAD + 3);
    assert_int_equal (rc, 2);
    assert_true (drain (&reader, &spool, got, sizeof (got), &rc) < SPOOL_MAX_LEAST / 4);
    assert_int_equal (rc, -ESTALE);
    spool_close (&spool);
    assert_int_equal (stat (path, &st), 0);
    assert_true ((uint64_t)st.st_size == spool.written);
    assert_true (st.st_blocks * 512 <= SPOOL_MAX_LEAST + 2 * FRAME_DATA_MAX);
}

int main (void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown (a_spool_is_created_once, set_up, tear_down),
        cmocka_unit_test_setup_teardown (small_and_large_frames_keep_their_order, set_up,
                                         tear_down),
        cmocka_unit_test_setup_teardown (full_is_what_the_broker_has_not_released, set_up,
                                         tear_down),
        cmocka_unit_test_setup_teardown (a_failed_write_leaves_whole_frames, set_up,
                                         tear_down),
        cmocka_unit_test_setup_teardown (a_stream_is_the_spool_from_any_offset, set_up,
                                         tear_down),
        cmocka_unit_test_setup_teardown (events_come_without_the_output_between_them,
                                         set_up, tear_down),
        cmocka_unit_test_setup_teardown (a_bounded_spool_is_cut_in_the_middle, set_up,
                                         tear_down),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
