/* test_pmi_hostile.c - all data that a hostile task may send: not PMI, too much, at the
 * wrong time, in any division */
#include "common/test/unit.h"

#include <errno.h>
#include <inttypes.h>

#include "shell/pmi/kvs.h"
#include "shell/pmi/test/pmi_step.h"
#include "shell/pmi/test/pmi_talk.h"

static void what_is_no_pmi_closes_the_connection (void **state)
{
    static const struct {
        const char *say;
        size_t len;
        const char *part;
    } first[] = {
        { "GET / HTTP/1.1\n", 15, "'' is not a command of PMI-1" },
        { "cmd=get kvsname=12.0 key=a\n", 27, "task 0: get before init" },
        { "cmd=barrier_in\n", 15, "barrier_in before init" },
        { "cmd=finalize\n", 13, "finalize before init" },
        { "cmd=abort\n", 10, "abort before init" },
        { "mcmd=spawn\n", 11, "not a command" },
        { "cmd=in\0it\n", 10, "a NUL" },
        { "\0", 1, "a NUL" },
        { "cmd= =x\n", 8, "not a command" },
        { "=\n", 2, "not a command" },
        { "cmd\n", 4, "not a command" },
    };
    (void)state;

    for (size_t i = 0; i < ARRAY_SIZE (first); i++) {
        struct step *step = step_create (1, 1, STEP_BLOCKS);
        refuse (step, 0, first[i].say, first[i].len, first[i].part);
        assert_false (step_is_unfinished (step, 0));
        step_destroy (step);
    }
}

static void what_is_no_pmi_2_closes_the_connection (void **state)
{
    static const struct {
        const char *say;
        size_t len;
        const char *part;
    } next[] = {
        { "cmd=init pmi_version=2 pmi_subversion=0\n", 40, "'cmd=in' is not a length" },
        { "     0", 6, "is not a length" },
        { "      ", 6, "is not a length" },
        { "    -1", 6, "is not a length" },
        { "  1 1 ", 6, "is not a length" },
        { " 65537", 6, "is not a length" },
        { "999999", 6, "is not a length" },
        { "\0\0\0\0\0\0", 6, "is not a length" },
        { "  14\0 ", 6, "is not a length" },
        { "     3abc", 9, "a field without value" },
        { "     7cmd=abc", 13, "does not end in ';'" },
        { "     9cmd=a;;;x", 15, "a field without value" },
        { "    10cmd=abort\0", 16, "a NUL" },
        { "     5key=;", 11, "is not a command of PMI-2" },
        { "     5cmd=;", 11, "is not a command of PMI-2" },
        { "     9cmd=a\nb\n;", 15, "is not a command of PMI-2" },
        { "    22cmd=kvs-get;thrid=a;;;", 28, "is not a command of PMI-2" },
        { "    61cmd=kvs-get;thrid=0123456789abcdef0123456789abcdef0123456789;", 67,
          "is not a command of PMI-2" },
    };
    (void)state;

    for (size_t i = 0; i < ARRAY_SIZE (next); i++) {
        struct step *step = step_create (1, 1, STEP_BLOCKS);
        init2 (step);
        refuse (step, 0, next[i].say, next[i].len, next[i].part);
        assert_true (step_is_unfinished (step, 0));
        assert_int_equal (step->abort_status, 0);
        step_destroy (step);
    }
}

static void a_second_fence_within_a_fence_closes_the_connection (void **state)
{
    struct step *step = step_create (1, 3, STEP_BLOCKS);

    (void)state;
    talk (step, 0, INIT1, INIT1_OK);
    init2_one (step, 1);
    talk (step, 2, INIT1, INIT1_OK);
    talk (step, 0, "cmd=barrier_in\n", "");
    refuse_text (step, 0, "cmd=barrier_in\n", "a fence while it is in the fence");
    talk2 (step, 1, "cmd=kvs-fence;", "");
    refuse_text (step, 1, framed ("cmd=kvs-fence;"), "a fence while it is in the fence");
    assert_int_equal (step->fences, 0);
    talk (step, 2, "cmd=barrier_in\n", BARRIER_OK); /* both tasks were in it, once */
    assert_int_equal (step->fences, 1);
    talk (step, 2, "cmd=barrier_in\n", BARRIER_FAILED);
    step_destroy (step);
}

static void finalize_within_a_fence_closes_the_connection (void **state)
{
    struct step *step = step_create (1, 2, STEP_BLOCKS);

    (void)state;
    init1 (step);
    talk (step, 0, "cmd=barrier_in\n", "");
    refuse_text (step, 0, "cmd=finalize\n", "finalize in a barrier");
    assert_true (step_is_unfinished (step, 0));
    step_destroy (step);
}

static void the_longest_line_is_taken_and_no_longer_one (void **state)
{
    struct step *step = step_create (1, 1, STEP_BLOCKS);
    static char line[PMI_LINE_MAX + 1];

    (void)state;
    init1 (step);
    memset (line, ' ', PMI_LINE_MAX);
    memcpy (line, "cmd=get_appnum", 14);
    line[PMI_LINE_MAX - 1] = '\n';
    assert_int_equal (step_send (step, 0, line, PMI_LINE_MAX), 0);
    assert_string_equal (step_heard (step, 0), "cmd=appnum rc=0 msg=success appnum=0\n");
    step->piece = 1;
    assert_int_equal (step_send (step, 0, line, PMI_LINE_MAX), 0);
    assert_string_equal (step_heard (step, 0), "cmd=appnum rc=0 msg=success appnum=0\n");
    step->piece = 0;
    line[PMI_LINE_MAX - 1] = ' ';
    line[PMI_LINE_MAX] = '\n';
    refuse (step, 0, line, PMI_LINE_MAX + 1, "a line of more than 4096 bytes");
    step_destroy (step);
}

static void the_longest_command_is_taken (void **state)
{
    struct step *step = step_create (1, 1, STEP_BLOCKS);
    static char body[PMI_COMMAND_MAX + 1];
    size_t n = 0;

    (void)state;
    init2 (step);
    n += (size_t)snprintf (body, sizeof (body), "cmd=spawn;");
    while (n < PMI_COMMAND_MAX - 20)
        n += (size_t)snprintf (body + n, sizeof (body) - n, "argv%zu=x;", n);
    memset (body + n, 'a', PMI_COMMAND_MAX - n);
    memcpy (body + n, "arg=", 4);
    body[PMI_COMMAND_MAX - 1] = ';';
    for (step->piece = 0; step->piece < 9000; step->piece += 4099)
        talk2 (step, 0, body, "cmd=spawn-response;rc=-1;errmsg=failed;");
    step_destroy (step);
}

static void keys_and_values_are_bounded (void **state)
{
    struct step *step = step_create (1, 2, STEP_BLOCKS);
    char text[KVS_VALUE_MAX + 2], say[2048], hear[2048];

    (void)state;
    talk (step, 0, INIT1, INIT1_OK);
    init2_one (step, 1);
    memset (text, 'k', sizeof (text));
    for (int len = KVS_KEY_MAX; len <= KVS_KEY_MAX + 1; len++) {
        bool fits = len == KVS_KEY_MAX;
        snprintf (say, sizeof (say), "cmd=put key=%.*s value=v\n", len, text);
        talk (step, 0, say,
              fits
                  ? "cmd=put_result rc=0 msg=success\n"
                  : "cmd=put_result rc=5 msg=the_key_is_empty_or_longer_than_64_bytes\n");
        snprintf (say, sizeof (say), "cmd=kvs-put;key=%.*s;value=v;", len, text);
        talk2 (step, 1, say,
               fits ? "cmd=kvs-put-response;rc=0;"
                    : "cmd=kvs-put-response;rc=5;errmsg=the_key_is_empty_or_longer_than_"
                      "64_bytes;");
        snprintf (say, sizeof (say), "cmd=get key=%.*s\n", len, text);
        talk (step, 0, say,
              fits ? "cmd=get_result rc=0 value=v\n"
                   : "cmd=get_result rc=4 msg=no_such_key\n");
    }
    for (int len = KVS_VALUE_MAX; len <= KVS_VALUE_MAX + 1; len++) {
        bool fits = len == KVS_VALUE_MAX;
        snprintf (say, sizeof (say), "cmd=put key=a value=%.*s\n", len, text);
        talk (step, 0, say,
              fits ? "cmd=put_result rc=0 msg=success\n"
                   : "cmd=put_result rc=7 msg=the_value_is_longer_than_1024_bytes\n");
        snprintf (say, sizeof (say), "cmd=get key=a\n");
        snprintf (hear, sizeof (hear), "cmd=get_result rc=0 value=%.*s\n", KVS_VALUE_MAX,
                  text);
        talk (step, 0, say, hear);
    }
    talk (step, 0, "cmd=put key= value=v\n",
          "cmd=put_result rc=5 msg=the_key_is_empty_or_longer_than_64_bytes\n");
    talk (step, 0, "cmd=get key=\n", "cmd=get_result rc=4 msg=no_such_key\n");
    /* The longest reply: a value of quotes only. */
    memset (text, ';', sizeof (text));
    snprintf (say, sizeof (say), "cmd=put key=a value=%.*s\n", KVS_VALUE_MAX, text);
    talk (step, 0, say, "cmd=put_result rc=0 msg=success\n");
    assert_int_equal (step_say (step, 1, framed ("cmd=kvs-get;key=a;")), 0);
    assert_int_equal (strlen (step_heard (step, 1)),
                      6 + strlen ("cmd=kvs-get-response;rc=0;found=TRUE;value=;")
                          + (size_t)KVS_VALUE_MAX * 2);
    step_destroy (step);
}

/* Fills the KVS from task 0 until it reports that there is no room; returns
 * the number of pairs. */
static uint32_t fill (struct step *step, uint32_t task)
{
    static char value[KVS_VALUE_MAX + 1];
    char say[2048];

    memset (value, 'v', KVS_VALUE_MAX);
    for (uint32_t n = 0;; n++) {
        snprintf (say, sizeof (say), "cmd=put key=%" PRIu32 "-%08" PRIu32 " value=%s\n",
                  task, n, value);
        assert_int_equal (step_say (step, task, say), 0);
        const char *heard = step_heard (step, task);
        if (strcmp (heard, "cmd=put_result rc=0 msg=success\n") != 0) {
            assert_string_equal (
                heard,
                "cmd=put_result rc=2 msg=the_job's_memory_for_keys_and_values_is_full\n");
            return n;
        }
    }
}

static void the_kvs_of_a_step_is_bounded (void **state)
{
    struct step *step = step_create (2, 2, STEP_BLOCKS);

    (void)state;
    init1 (step);
    uint32_t n = fill (step, 0);
    assert_int_equal (n, PMI_KVS_MAX / (KVS_VALUE_MAX + KVS_PAIR_COST + 10));
    /* An existing pair may be replaced, and is still found. */
    talk (step, 0, "cmd=put key=0-00000000 value=new\n",
          "cmd=put_result rc=0 msg=success\n");
    talk (step, 0, "cmd=get key=0-00000000\n", "cmd=get_result rc=0 value=new\n");
    /* Each rank has room, but all together have not: the fence fails for all. */
    fill (step, 1);
    step_say (step, 0, "cmd=barrier_in\n");
    step_say (step, 1, "cmd=barrier_in\n");
    assert_int_equal (step->exchanged, -ENOSPC);
    for (uint32_t i = 0; i < 2; i++)
        assert_string_equal (
            step_heard (step, i),
            "cmd=barrier_out rc=2 msg=the_job's_memory_for_keys_and_values_is_full\n");
    assert_non_null (strstr (step->err.text, "at most 64 MiB"));
    step_destroy (step);
}

static void node_attributes_are_bounded (void **state)
{
    struct step *step = step_create (1, 1, STEP_BLOCKS);
    char value[KVS_VALUE_MAX + 1] = { 0 }, say[2048];
    uint32_t n = 0;

    (void)state;
    init2 (step);
    memset (value, 'v', KVS_VALUE_MAX);
    for (bool ok = true; ok; n++) {
        snprintf (say, sizeof (say), "cmd=info-putnodeattr;key=%08" PRIu32 ";value=%s;",
                  n, value);
        assert_int_equal (step_say (step, 0, framed (say)), 0);
        ok = strstr (step_heard (step, 0), ";rc=0;") != NULL;
    }
    assert_in_range (n, 900, PMI_ATTRS_MAX / (KVS_VALUE_MAX + KVS_PAIR_COST));
    step_destroy (step);
}

/* A whole session in random parts gives the same replies as at once. */
static void pieces_of_any_size_make_no_difference (void **state)
{
    static char session[16384];
    struct step *whole = step_create (1, 1, STEP_BLOCKS);
    size_t len = (size_t)snprintf (session, sizeof (session), "%s", INIT2);
    uint32_t chance = 7;

    (void)state;
    len += (size_t)snprintf (session + len, sizeof (session) - len, "%s",
                             framed ("cmd=fullinit;pmirank=0;"));
    for (int i = 0; i < 100; i++) {
        char body[128];
        snprintf (body, sizeof (body), "cmd=kvs-put;key=k%d;value=%d;;%d;", i % 10, i, i);
        len +=
            (size_t)snprintf (session + len, sizeof (session) - len, "%s", framed (body));
        snprintf (body, sizeof (body),
                  i % 9 ? "cmd=kvs-get;key=k%d;" : "cmd=kvs-fence;x=%d;", i % 7);
        len +=
            (size_t)snprintf (session + len, sizeof (session) - len, "%s", framed (body));
    }
    assert_int_equal (step_send (whole, 0, session, len), 0);
    const char *expected = step_heard (whole, 0);
    for (int round = 0; round < 50; round++) {
        struct step *step = step_create (1, 1, STEP_BLOCKS);
        for (size_t at = 0, n; at < len; at += n) {
            chance = chance * 1664525 + 1013904223;
            n = MIN (len - at, 1 + (chance >> 16) % 200);
            assert_int_equal (step_send (step, 0, session + at, n), 0);
        }
        assert_true (strcmp (step->heard[0].buf, expected) == 0);
        step_destroy (step);
    }
    step_destroy (whole);
}

static void random_bytes_do_no_harm (void **state)
{
    static const char *const words[] = {
        "cmd=",
        "init",
        " pmi_version=1",
        " pmi_version=2",
        "\n",
        "\n",
        "put",
        "get",
        " key=",
        " value=",
        "barrier_in",
        "finalize",
        "mcmd=spawn",
        "endcmd",
        "totspawns=3",
        "\0",
        ";",
        ";;",
        "    16",
        "kvs-put;",
        "kvs-fence;",
        "key=a;",
        "value=b;",
        "fullinit;",
        "kvs-get;",
        "info-getnodeattr;",
        "wait=TRUE;",
        "info-putnodeattr;",
        "=",
        " ",
        "    22",
        "abort",
        "12",
        "thrid=",
        "\xff",
        "getbyidx",
        " idx=0",
    };
    uint32_t chance = 99;

    (void)state;
    for (int round = 0; round < 3000; round++) {
        struct step *step = step_create (1, 2, STEP_BLOCKS);
        step_say (step, round % 2, round % 3 ? INIT2 : INIT1);
        if (round % 3)
            step_say (step, round % 2, framed ("cmd=fullinit;"));
        for (int i = 0; i < 60; i++) {
            chance = chance * 1664525 + 1013904223;
            const char *word = words[(chance >> 16) % ARRAY_SIZE (words)];
            size_t len = MAX (strlen (word), (size_t)1);
            char *exact = test_malloc (len); /* ASan detects a read beyond it */
            memcpy (exact, word, len);
            int rc = step_send (step, (chance >> 12) & 1, exact, len);
            assert_true (rc == 0 || rc == -EPROTO || rc == -EPIPE);
            test_free (exact);
        }
        step_destroy (step);
    }
}

int main (void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test (what_is_no_pmi_closes_the_connection),
        cmocka_unit_test (what_is_no_pmi_2_closes_the_connection),
        cmocka_unit_test (a_second_fence_within_a_fence_closes_the_connection),
        cmocka_unit_test (finalize_within_a_fence_closes_the_connection),
        cmocka_unit_test (the_longest_line_is_taken_and_no_longer_one),
        cmocka_unit_test (the_longest_command_is_taken),
        cmocka_unit_test (keys_and_values_are_bounded),
        cmocka_unit_test (the_kvs_of_a_step_is_bounded),
        cmocka_unit_test (node_attributes_are_bounded),
        cmocka_unit_test (pieces_of_any_size_make_no_difference),
        cmocka_unit_test (random_bytes_do_no_harm),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
