/* test_wire.c - tests of wire.h: messages, proofs, and slow sockets */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include <cmocka.h>

#include "shell/io/wire.h"

static void a_message_arrives_as_it_was_sent (void **state)
{
    (void)state;
    struct outbuf out = { 0 };
    struct frame msg = { .type = FRAME_OUTPUT,
                         .stream = 2,
                         .rank = 0x01020304,
                         .task = 77,
                         .len = 3,
                         .data = "abc" };
    struct frame got;
    wire_put (&out, &msg);
    assert_int_equal (out.len, FRAME_HEAD + 3);
    for (size_t len = 0; len < out.len; len++)
        assert_int_equal (wire_parse (out.data, len, &got), 0);
    assert_int_equal (wire_parse (out.data, out.len, &got), (ssize_t)out.len);
    assert_int_equal (got.type, FRAME_OUTPUT);
    assert_int_equal (got.stream, 2);
    assert_int_equal (got.rank, 0x01020304);
    assert_int_equal (got.task, 77);
    assert_memory_equal (got.data, "abc", 3);
    /* The same layout as in the spool, which the broker reads. */
    uint8_t head[FRAME_HEAD];
    frame_encode_head (&msg, head);
    assert_memory_equal (head, out.data, FRAME_HEAD);
    outbuf_release (&out);
}

static void unknown_and_oversized_messages_are_refused (void **state)
{
    (void)state;
    struct frame got;
    for (int type = 0; type < 256; type++) {
        uint8_t head[FRAME_HEAD] = { (uint8_t)type };
        int known = (type >= FRAME_OUTPUT && type <= FRAME_FINISH) || type == FRAME_FILE
                    || (type >= WIRE_JOIN && type <= WIRE_STAGED) || type == WIRE_USAGE
                    || type == WIRE_OOM || type == WIRE_NODE || type == WIRE_RESIZE
                    || (type >= WIRE_RUN_KEEPALIVE && type <= WIRE_RUN_END)
                    || type == WIRE_RUN_SESSION || type == WIRE_RUN_CALL
                    || (type >= WIRE_STEP_START && type <= WIRE_STEP_LAST);
        assert_int_equal (wire_parse (head, sizeof (head), &got),
                          known ? FRAME_HEAD : -EBADMSG);
    }
    uint8_t head[FRAME_HEAD] = { FRAME_OUTPUT, 1 };
    wire_put_u32 (head + 12, FRAME_DATA_MAX + 1);
    assert_int_equal (wire_parse (head, sizeof (head), &got), -EBADMSG);
    wire_put_u32 (head + 12, UINT32_MAX);
    assert_int_equal (wire_parse (head, sizeof (head), &got), -EBADMSG);
    wire_put_u32 (head + 12, FRAME_DATA_MAX);
    assert_int_equal (wire_parse (head, sizeof (head), &got), 0);
}

/* Any difference changes the proof: role, job, rank, either nonce, key. */
static void a_proof_holds_for_one_handshake_only (void **state)
{
    (void)state;
    uint8_t key[2][AGENT_KEY_SIZE] = { { 1 }, { 2 } };
    uint8_t nonce[3][WIRE_NONCE] = { { 1 }, { 2 }, { 3 } };
    uint8_t proof[7][WIRE_PROOF];
    wire_proof (key[0], WIRE_ROLE_ROOT, 7, 1, nonce[0], nonce[1], proof[0]);
    wire_proof (key[1], WIRE_ROLE_ROOT, 7, 1, nonce[0], nonce[1], proof[1]);
    wire_proof (key[0], WIRE_ROLE_MEMBER, 7, 1, nonce[0], nonce[1], proof[2]);
    wire_proof (key[0], WIRE_ROLE_ROOT, 8, 1, nonce[0], nonce[1], proof[3]);
    wire_proof (key[0], WIRE_ROLE_ROOT, 7, 2, nonce[0], nonce[1], proof[4]);
    wire_proof (key[0], WIRE_ROLE_ROOT, 7, 1, nonce[2], nonce[1], proof[5]);
    wire_proof (key[0], WIRE_ROLE_ROOT, 7, 1, nonce[1], nonce[0], proof[6]);
    for (int i = 0; i < 7; i++)
        for (int j = 0; j < i; j++)
            assert_memory_not_equal (proof[i], proof[j], WIRE_PROOF);
    wire_proof (key[0], WIRE_ROLE_ROOT, 7, 1, nonce[0], nonce[1], proof[1]);
    assert_memory_equal (proof[0], proof[1], WIRE_PROOF);
}

static void what_a_slow_socket_does_not_take_waits_in_order (void **state)
{
    (void)state;
    int fds[2];
    struct outbuf out = { 0 };
    static char piece[10007];
    size_t sent = 0, received = 0;
    assert_int_equal (socketpair (AF_UNIX, SOCK_STREAM, 0, fds), 0);
    for (int round = 0; round < 200; round++) {
        for (size_t i = 0; i < sizeof (piece); i++)
            piece[i] = (char)((sent + i) % 251);
        outbuf_add (&out, piece, sizeof (piece));
        sent += sizeof (piece);
        assert_true (outbuf_flush (&out, fds[0]) >= 0);
        ssize_t n = read (fds[1], piece, 4096);
        for (ssize_t i = 0; i < n; i++)
            assert_int_equal ((unsigned char)piece[i], (received + (size_t)i) % 251);
        received += (size_t)n;
    }
    while (received < sent) {
        outbuf_flush (&out, fds[0]);
        ssize_t n = read (fds[1], piece, sizeof (piece));
        for (ssize_t i = 0; i < n; i++)
            assert_int_equal ((unsigned char)piece[i], (received + (size_t)i) % 251);
        received += (size_t)n;
    }
    assert_int_equal (outbuf_flush (&out, fds[0]), 1);
    close (fds[1]);
    outbuf_add (&out, "x", 1);
    assert_int_equal (outbuf_flush (&out, fds[0]), -EPIPE);
    outbuf_release (&out);
    close (fds[0]);
}

static void windows_of_all_ranks_fit_the_spool (void **state)
{
    (void)state;
    assert_int_equal (wire_window (0, 100), WIRE_WINDOW_MAX);
    assert_true ((uint64_t)wire_window (0, 512) * 512 <= WIRE_WINDOWS);
    assert_true ((uint64_t)wire_window (UINT64_MAX, 4096) * 4096 <= WIRE_WINDOWS);
    assert_int_equal (wire_window (0, 1000000), WIRE_WINDOW_MIN);
    assert_int_equal (wire_window (1u << 30, 1), WIRE_WINDOW_MAX);
    assert_true ((uint64_t)wire_window (64u << 20, 256) * 256 <= 16u << 20);
    assert_int_equal (wire_window (1, 1000), WIRE_WINDOW_MIN);
}

int main (void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test (a_message_arrives_as_it_was_sent),
        cmocka_unit_test (unknown_and_oversized_messages_are_refused),
        cmocka_unit_test (a_proof_holds_for_one_handshake_only),
        cmocka_unit_test (what_a_slow_socket_does_not_take_waits_in_order),
        cmocka_unit_test (windows_of_all_ranks_fit_the_spool),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
