/* test_resumable.c - messages between two sides, over connections that break (resumable.c) */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include <cmocka.h>

#include "shell/io/resumable.h"

#define MESSAGES 2000

struct side {
    struct resumable r;
    int fd;
    char buf[FRAME_HEAD + FRAME_DATA_MAX];
    size_t len;
    uint32_t put, got; /* numbers of messages */
};

static uint32_t chance (void)
{
    static uint32_t x = 7;
    x = x * 1664525 + 1013904223;
    return x >> 8;
}

static void put_number (struct side *s)
{
    char data[200] = { 0 };
    wire_put_u32 ((uint8_t *)data, s->put++);
    resumable_put (&s->r, &(struct frame){ .type = WIRE_RUN_NOTE,
                                           .len = sizeof (data),
                                           .data = data });
}

/* Reads at most n bytes: the next number, or a message of the session itself. */
static void take (struct side *s, size_t n)
{
    struct frame msg;
    ssize_t size;
    n = n < sizeof (s->buf) - s->len ? n : sizeof (s->buf) - s->len;
    ssize_t got = recv (s->fd, s->buf + s->len, n, MSG_DONTWAIT);
    s->len += got > 0 ? (size_t)got : 0;
    while ((size = wire_parse (s->buf, s->len, &msg)) > 0) {
        if (!resumable_received (&s->r, &msg, (size_t)size)) {
            assert_int_equal (msg.type, WIRE_RUN_NOTE);
            assert_int_equal (wire_get_u32 (msg.data), s->got);
            s->got++;
        }
        memmove (s->buf, s->buf + size, s->len - (size_t)size);
        s->len -= (size_t)size;
    }
    assert_int_equal (size, 0);
}

static void connect_sides (struct side s[2])
{
    int fds[2], small = 4096;
    assert_int_equal (socketpair (AF_UNIX, SOCK_STREAM, 0, fds), 0);
    for (int i = 0; i < 2; i++) {
        setsockopt (fds[i], SOL_SOCKET, SO_SNDBUF, &small, sizeof (small));
        s[i].fd = fds[i];
        s[i].len = 0;
    }
    for (int i = 0; i < 2; i++)
        assert_int_equal (resumable_resume (&s[i].r, s[1 - i].r.received), 0);
}

static void break_connection (struct side s[2])
{
    for (int i = 0; i < 2; i++) {
        close (s[i].fd);
        resumable_lost (&s[i].r);
    }
}

/* Everything in between may be lost, also parts of messages. */
static void test_breaks (void **state)
{
    static struct side s[2];
    (void)state;
    for (int i = 0; i < 2; i++)
        resumable_open (&s[i].r);
    connect_sides (s);
    while (s[0].got < MESSAGES || s[1].got < MESSAGES) {
        struct side *one = &s[chance () & 1];
        if (one->put < MESSAGES)
            put_number (one);
        assert_true (resumable_flush (&one->r, one->fd) >= 0);
        take (&s[chance () & 1], (size_t)chance () % 700);
        if (chance () % 50 == 0) {
            break_connection (s);
            connect_sides (s);
        }
    }
    break_connection (s);
    for (int i = 0; i < 2; i++) {
        assert_int_equal (s[i].got, MESSAGES);
        resumable_release (&s[i].r);
    }
}

/* The kept data does not grow with the sent data. */
static void test_bound (void **state)
{
    static struct side s[2];
    (void)state;
    for (int i = 0; i < 2; i++)
        resumable_open (&s[i].r);
    connect_sides (s);
    for (int i = 0; i < MESSAGES; i++) {
        put_number (&s[0]);
        for (int side = 0; side < 2; side++)
            assert_true (resumable_flush (&s[side].r, s[side].fd) >= 0);
        take (&s[1], sizeof (s[1].buf));
        take (&s[0], sizeof (s[0].buf));
        assert_true (s[0].r.out.len <= 2 * RESUMABLE_ACK_EVERY);
    }
    break_connection (s);
    for (int i = 0; i < 2; i++)
        resumable_release (&s[i].r);
}

static void test_nonsense (void **state)
{
    struct side s = { .fd = -1 };
    (void)state;
    resumable_open (&s.r);
    put_number (&s);
    assert_true (resumable_resume (&s.r, 1000) < 0);
    assert_int_equal (resumable_resume (&s.r, FRAME_HEAD + 200), 0);
    assert_true (resumable_is_done (&s.r));
    assert_true (resumable_resume (&s.r, 0) < 0);
    resumable_release (&s.r);
}

int main (void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test (test_breaks),
        cmocka_unit_test (test_bound),
        cmocka_unit_test (test_nonsense),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
