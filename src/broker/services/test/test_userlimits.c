/* test_userlimits.c - pending jobs and kept output of one user are counted and limited */
#include "broker/core/test/small.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "broker/services/userlimits.h"

extern const struct broker_service service_userlimits;

#define USER 1000
#define OTHER 1001
#define OPERATOR 0

#define MIB (1024 * 1024)

static int check (struct small *s, uid_t uid, uint64_t jobs, uint64_t bytes)
{
    struct error err = { 0 };
    int rc = userlimits_check (s->b, uid, jobs, bytes, &err);

    assert_true (rc == 0 || (rc == -EDQUOT && err.text[0]));
    return rc;
}

static int64_t number (struct small *s, uid_t uid, const char *key)
{
    autojson json_t *status = json_object ();

    service_userlimits.shows_status (s->b, uid, status);
    const json_t *value = json_object_get (json_object_get (status, "usage"), key);

    assert_non_null (value);
    return json_is_null (value) ? -1 : json_integer_value (value);
}

/* Pending jobs count, running and ended jobs do not. */
static void test_jobs (void **unused)
{
    struct small *s = small_create (1);

    (void)unused;
    small_set (s, "user-jobs-max", json_integer (3));
    for (int i = 0; i < 6; i++)
        small_submit (s, "duration: 0");
    assert_int_equal (number (s, USER, "jobs"), 6);
    small_turn (s);
    assert_int_equal (number (s, USER, "jobs"), 2);
    assert_int_equal (check (s, USER, 1, 0), 0);
    assert_int_equal (check (s, USER, 2, 0), -EDQUOT);
    assert_int_equal (check (s, OTHER, 3, 0), 0);
    assert_int_equal (check (s, OPERATOR, 100, 0), 0);
    small_finish (s, 1, "ended");
    assert_int_equal (number (s, USER, "jobs"), 1);
    assert_int_equal (broker_exception (s->b, entry_find (s->b, 6), "cancel", 0, ""), 0);
    assert_int_equal (number (s, USER, "jobs"), 0);
    assert_int_equal (number (s, USER, "jobs_max"), 3);
    assert_int_equal (number (s, OPERATOR, "jobs_max"), -1);
    small_destroy (s);
}

/* Each task of an array that has not started counts. */
static void test_array (void **unused)
{
    struct small *s = small_create (1);

    (void)unused;
    small_set (s, "user-jobs-max", json_integer (10));
    for (int i = 0; i < 4; i++)
        small_submit (s, "duration: 0");
    small_turn (s);
    small_submit (s, "duration: 0, fluxq: {array: \"1-8\"}");
    small_turn (s);
    assert_int_equal (number (s, USER, "jobs"), 8);
    assert_int_equal (check (s, USER, 2, 0), 0);
    assert_int_equal (check (s, USER, 3, 0), -EDQUOT);
    small_destroy (s);
}

/* Submits that are being written to disk count, too. */
static void test_bytes (void **unused)
{
    struct small *s = small_create (1);

    (void)unused;
    small_set (s, "user-bytes-max", json_integer (10000000));
    userlimits_reserve (s->b, USER, 1, 6000000);
    assert_int_equal (check (s, USER, 1, 4000000), 0);
    assert_int_equal (check (s, USER, 1, 4000001), -EDQUOT);
    assert_int_equal (number (s, USER, "bytes"), 6000000);
    userlimits_reserve (s->b, USER, -1, -6000000);
    assert_int_equal (check (s, USER, 1, 10000000), 0);
    small_set (s, "user-bytes-max", json_integer (0)); /* no limit */
    assert_int_equal (check (s, USER, 1, 100000000), 0);
    small_destroy (s);
}

static void write_file (const char *path, size_t size)
{
    static char block[2 * MIB];
    int fd = open (path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);

    assert_true (fd >= 0 && size <= sizeof (block));
    assert_int_equal (write (fd, block, size), size);
    close (fd);
}

/* A worker measures the spools of a user's jobs after a job has ended. */
static void test_output (void **unused)
{
    char dir[] = "/tmp/test_userlimits.XXXXXX", job[64], spool[100], other[100];

    (void)unused;
    assert_non_null (mkdtemp (dir));
    struct small *s = small_create (1);
    uint64_t id = entry_id (small_submit (s, "duration: 0"));
    uid_t owner = entry_job (entry_find (s->b, id))->userid;
    snprintf (job, sizeof (job), "%s/%ju", dir, (uintmax_t)id);
    snprintf (spool, sizeof (spool), "%s/spool-0", job);
    snprintf (other, sizeof (other), "%s/data", job);
    assert_int_equal (mkdir (job, 0700), 0);
    write_file (other, 2 * MIB); /* the user's own file does not count */
    small_turn (s);
    small_ready (s, id);
    free (s->b->jobs_dir);
    s->b->jobs_dir = strdup (dir);
    s->works = true;
    small_set (s, "user-output-max", json_integer (MIB));
    small_advance (s, 10);
    write_file (spool, 2 * MIB);
    small_advance (s, 10);
    assert_int_equal (number (s, owner, "output"), 0);
    small_finish (s, id, "ended");
    small_advance (s, 2);
    assert_in_range (number (s, owner, "output"), 2 * MIB, 3 * MIB);
    assert_int_equal (check (s, owner, 1, 0), -EDQUOT);
    assert_int_equal (check (s, owner + 1, 1, 0), 0);
    unlink (spool);
    services_call (ended, s->b, entry_find (s->b, id));
    small_advance (s, 2);
    assert_int_equal (number (s, owner, "output"), 0);
    assert_int_equal (check (s, owner, 1, 0), 0);
    small_destroy (s);
    unlink (other);
    rmdir (job);
    rmdir (dir);
}

/* A user's count is also right after jobs were refused or have vanished. */
static void scenario (struct small *s)
{
    const struct entry *e, *next;
    int64_t waiting = 0;

    small_set (s, "user-jobs-max", json_integer (3));
    small_set (s, "user-output-max", json_integer (MIB));
    for (int i = 0; i < 6; i++)
        small_submit (s, "duration: 0");
    small_turn (s);
    small_finish (s, 1, "ended");
    small_advance (s, 2);
    long countdown = small_spare ();
    HASH_ITER (hh, s->b->table.all, e, next)
        waiting += entry_is_waiting (e);
    assert_int_equal (number (s, USER, "jobs"), waiting);
    check (s, USER, 1, 0);
    small_resume (countdown);
}

static void test_jobs_vanish (void **unused)
{
    (void)unused;
    small_vanish (1, scenario);
}

static void test_no_memory (void **unused)
{
    (void)unused;
    small_torture (1, scenario);
}

int main (void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test (test_jobs),        cmocka_unit_test (test_array),
        cmocka_unit_test (test_bytes),       cmocka_unit_test (test_output),
        cmocka_unit_test (test_jobs_vanish), cmocka_unit_test (test_no_memory),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
