/* Reading a control group in a synthetic tree, without this machine's own groups. */
#include "common/test/unit.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/io.h"
#include "common/macros.h"
#include "shell/step/cgroup.h"
#include "shell/step/reap.h"

static char root[64];

static void put (const char *name, const char *text)
{
    char path[256];
    snprintf (path, sizeof (path), "%s/%s", root, name);
    char *slash = strrchr (path, '/');
    *slash = '\0';
    assert_true (mkdir (path, 0700) == 0 || errno == EEXIST);
    *slash = '/';
    autoclose int fd = open (path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    assert_true (fd >= 0);
    assert_int_equal (write (fd, text, strlen (text)), strlen (text));
}

static int make_root (void **state)
{
    (void)state;
    snprintf (root, sizeof (root), "/tmp/test-cgroup-XXXXXX");
    return mkdtemp (root) ? 0 : -1;
}

static int remove_root (void **state)
{
    (void)state;
    return io_remove_tree (root, NULL);
}

static bool known (const struct use *use, unsigned figure)
{
    return use->known & (1U << figure);
}

static void version_2_is_read (void **state)
{
    (void)state;
    struct cgroup_memory m;
    put ("cgroup.controllers", "cpu io memory\n");
    put ("memory.events", "low 0\nhigh 5\nmax 7\noom 3\noom_kill 2\noom_group_kill 9\n");
    put ("memory.max", "536870912\n");
    put ("memory.peak", "535822336\n");
    put ("cpu.stat", "usage_usec 30\nuser_usec 20\nsystem_usec 10\nnr_periods 0\n");
    put ("io.stat", "8:0 rbytes=100 wbytes=7 rios=1 wios=1\n8:16 rbytes=11 wbytes=0\n");
    assert_int_equal (cgroup_memory (root, &m), 0);
    assert_int_equal (m.kills, 2);
    assert_int_equal (m.limit, 536870912);
    assert_int_equal (m.peak, 535822336);
    struct use use = cgroup_use (root);
    assert_int_equal (use.v[USE_USER], 20);
    assert_int_equal (use.v[USE_SYSTEM], 10);
    assert_int_equal (use.v[USE_PEAK], 535822336);
    assert_int_equal (use.v[USE_DISK_READ], 111);
    assert_int_equal (use.v[USE_DISK_WRITTEN], 7);
    assert_false (known (&use, USE_READ));
}

/* An older kernel has no memory.peak; a group without a limit says "max". */
static void what_version_2_does_not_say_is_unknown (void **state)
{
    (void)state;
    struct cgroup_memory m;
    put ("cgroup.controllers", "memory\n");
    put ("memory.events", "oom_kill 0\n");
    put ("memory.max", "max\n");
    assert_int_equal (cgroup_memory (root, &m), 0);
    assert_int_equal (m.limit, 0);
    assert_int_equal (m.peak, 0);
    assert_int_equal (m.kills, 0);
    assert_int_equal (cgroup_use (root).known, 0);
}

static void version_1_is_read (void **state)
{
    (void)state;
    struct cgroup_memory m;
    long ticks = sysconf (_SC_CLK_TCK);
    put ("memory/memory.oom_control", "oom_kill_disable 1\nunder_oom 0\noom_kill 4\n");
    put ("memory/memory.limit_in_bytes", "67108864\n");
    put ("memory/memory.max_usage_in_bytes", "67108000\n");
    put ("cpuacct/cpuacct.stat", "user 300\nsystem 12\n");
    put ("blkio/blkio.throttle.io_service_bytes",
         "8:0 Read 4096\n8:0 Write 10\n8:0 Total 4106\n8:16 Read 4\nTotal 4110\n");
    assert_int_equal (cgroup_memory (root, &m), 0);
    assert_int_equal (m.kills, 4);
    assert_int_equal (m.limit, 67108864);
    assert_int_equal (m.peak, 67108000);
    struct use use = cgroup_use (root);
    assert_int_equal (use.v[USE_USER], 300 * (1000000 / ticks));
    assert_int_equal (use.v[USE_SYSTEM], 12 * (1000000 / ticks));
    assert_int_equal (use.v[USE_PEAK], 67108000);
    assert_int_equal (use.v[USE_DISK_READ], 4100);
    assert_int_equal (use.v[USE_DISK_WRITTEN], 10);
}

static void a_number_for_no_limit_is_none (void **state)
{
    (void)state;
    struct cgroup_memory m;
    put ("memory/memory.oom_control", "oom_kill_disable 1\n");
    put ("memory/memory.limit_in_bytes", "9223372036854771712\n");
    assert_int_equal (cgroup_memory (root, &m), 0);
    assert_int_equal (m.limit, 0);
    assert_int_equal (m.kills, 0);
}

static void without_a_group_there_is_nothing (void **state)
{
    (void)state;
    struct cgroup_memory m;
    assert_int_equal (cgroup_memory (root, &m), -ENOENT);
    assert_int_equal (cgroup_use (root).known, 0);
}

static void the_reason_has_the_figures (void **state)
{
    static const struct {
        uint64_t limit, peak, asked;
        const char *text;
    } cases[] = {
        { 536870912, 535822336, 512,
          "out of memory: it asked for 512 MiB, 511 MiB were in use when the kernel "
          "killed "
          "a process" },
        { UINT64_C (1610612736), UINT64_C (1610612736), 1536,
          "out of memory: it asked for 1.5 GiB, 1.5 GiB were in use when the kernel "
          "killed "
          "a process" },
        { 67108864, 67108864, 0,
          "out of memory: its limit is 64 MiB, 64 MiB were in use when the kernel killed "
          "a "
          "process" },
        { 0, 67108864, 0,
          "out of memory: 64 MiB were in use when the kernel killed a process" },
        { 67108864, 0, 64, "out of memory, the kernel killed a process" },
    };
    char text[160];

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE (cases); i++) {
        struct cgroup_memory m = { cases[i].limit, cases[i].peak, 1 };
        cgroup_oom_text (&m, cases[i].asked, text, sizeof (text));
        assert_string_equal (text, cases[i].text);
    }
}

static void bytes_are_those_of_all_reads_and_writes (void **state)
{
    (void)state;
    struct use use = { 0 };
    reap_parse_io ("rchar: 6976\nwchar: 17\nsyscr: 10\nread_bytes: 4096\n", &use);
    assert_int_equal (use.v[USE_READ], 6976);
    assert_int_equal (use.v[USE_WRITTEN], 17);
    use = (struct use){ 0 };
    reap_parse_io ("syscr: 10\nrchar: no\n", &use);
    assert_int_equal (use.known, 0);
}

#define TOUCHED (32 << 20)
#define WRITTEN 12345

static void spend (void)
{
    char *memory = malloc (TOUCHED);
    int fd = open ("/dev/null", O_WRONLY);
    if (!memory || fd < 0)
        _exit (1);
    memset (memory, 1, TOUCHED);
    (void)!write (fd, memory, WRITTEN);
    _exit (memory[TOUCHED - 1] == 1 ? 3 : 1);
}

/* A child whose own child does the work and is waited for. */
static void a_dead_child_is_reaped_with_what_it_used (void **state)
{
    (void)state;
    struct reaped dead;
    pid_t pid = fork (), got;
    if (pid == 0) {
        int status;
        pid_t inner;
        setsid ();
        if ((inner = fork ()) == 0)
            spend ();
        waitpid (inner, &status, 0);
        _exit (WEXITSTATUS (status));
    }
    assert_true (pid > 0);
    alarm (60);
    while ((got = reap_next (&dead)) == 0)
        usleep (1000);
    alarm (0);
    assert_int_equal (got, pid);
    assert_int_equal (dead.pid, pid);
    assert_int_equal (dead.session, pid);
    assert_int_equal (dead.status, 3 << 8);
    assert_true (known (&dead.use, USE_USER) && known (&dead.use, USE_SYSTEM));
    assert_true (dead.use.v[USE_PEAK] >= TOUCHED);
    assert_int_equal (reap_next (&dead), -ECHILD);
}

/* Like the agent: a user without root, and not dumpable. It also writes in between. */
static int bytes_of_a_child (void)
{
    struct reaped dead;
    int fds[2];
    char text[100] = "";
    if (geteuid () == 0 && (setgid (65534) < 0 || setuid (65534) < 0))
        return 2;
    reap_init ();
    pid_t pid = fork (), got;
    if (pid == 0)
        spend ();
    if (pipe (fds) < 0 || write (fds[1], text, 100) != 100
        || read (fds[0], text, 100) != 100)
        return 2;
    while ((got = reap_next (&dead)) == 0)
        usleep (1000);
    if (got != pid || !known (&dead.use, USE_READ) || !known (&dead.use, USE_WRITTEN))
        return 3;
    return dead.use.v[USE_READ] == 0 && dead.use.v[USE_WRITTEN] == WRITTEN ? 0 : 4;
}

static void bytes_are_known_whoever_one_is (void **state)
{
    (void)state;
    int status = -1;
    if (access ("/proc/self/io", F_OK) < 0)
        skip (); /* this kernel does not count them */
    pid_t pid = fork ();
    if (pid == 0)
        _exit (bytes_of_a_child ());
    assert_int_equal (waitpid (pid, &status, 0), pid);
    assert_int_equal (status, 0);
}

#define WITH_ROOT(test) cmocka_unit_test_setup_teardown (test, make_root, remove_root)

int main (void)
{
    const struct CMUnitTest tests[] = {
        WITH_ROOT (version_2_is_read),
        WITH_ROOT (what_version_2_does_not_say_is_unknown),
        WITH_ROOT (version_1_is_read),
        WITH_ROOT (a_number_for_no_limit_is_none),
        WITH_ROOT (without_a_group_there_is_nothing),
        cmocka_unit_test (the_reason_has_the_figures),
        cmocka_unit_test (bytes_are_those_of_all_reads_and_writes),
        cmocka_unit_test (a_dead_child_is_reaped_with_what_it_used),
        cmocka_unit_test (bytes_are_known_whoever_one_is),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
