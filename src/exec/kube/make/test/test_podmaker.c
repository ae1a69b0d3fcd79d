/* The choice of the way to make a job's pods: by the configuration, the pods' mounts,
 * the broker's rights, and the API server's answer to the Job. */
#include "exec/kube/core/kjob.h"
#include "exec/kube/core/kspace.h"
#include "exec/kube/make/podmaker.h"
#include "exec/kube/make/podrights.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static struct exec x;
static struct kspace space;
static struct exec_job job;
static struct kjob k;

static int setup (void **state)
{
    (void)state;
    x = (struct exec){ .closing = true }; /* nothing is added to a loop */
    space = (struct kspace){ .name = "ns", .x = &x, .rights = { .known = true } };
    job = (struct exec_job){ .id = 1 };
    k = (struct kjob){ .id = 1, .x = &x, .job = &job, .space = &space, .poked = true };
    return 0;
}

static void set_pods (const char *way)
{
    static char text[16];

    snprintf (text, sizeof (text), "%s", way);
    x.cfg.pods = text;
}

static void test_choice (void **state)
{
    (void)state;
    assert_ptr_equal (podmaker_choose (&k), &pods_broker); /* auto is the default */
    set_pods ("auto");
    assert_ptr_equal (podmaker_choose (&k), &pods_broker);
    set_pods ("broker");
    assert_ptr_equal (podmaker_choose (&k), &pods_broker);
    set_pods ("controller");
    assert_ptr_equal (podmaker_choose (&k), &pods_controller);
}

static void test_missing_right (void **state)
{
    (void)state;
    snprintf (space.rights.missing, sizeof (space.rights.missing), "create pods");
    space.rights.look_at = 1e18; /* no new request now */
    assert_ptr_equal (podmaker_choose (&k), &pods_controller);
    assert_false (podrights_are_there (&space));
    set_pods ("broker");
    assert_null (podmaker_choose (&k));
    assert_true (k.start_lost && k.start_retry);
    assert_non_null (strstr (k.fin.text, "create pods"));
}

/* Such pods may have to wait for kube-scheduler, which a fixed node name would bypass. */
static void test_claims (void **state)
{
    static const char *const texts[] = {
        "[{\"path\":\"/a\",\"volume\":{\"nfs\":{}}},"
        "{\"path\":\"/b\",\"volume\":{\"persistentVolumeClaim\":{\"claimName\":\"c\"}}}]",
        "[{\"path\":\"/b\",\"volume\":{\"ephemeral\":{}}}]",
    };

    (void)state;
    set_pods ("broker");
    for (size_t i = 0; i < 2; i++) {
        job.mounts = json_loads (texts[i], 0, NULL);
        assert_non_null (job.mounts);
        assert_ptr_equal (podmaker_choose (&k), &pods_controller);
        json_decref (job.mounts);
    }
    job.mounts = json_loads ("[{\"path\":\"/a\",\"volume\":{\"nfs\":{}}}]", 0, NULL);
    assert_ptr_equal (podmaker_choose (&k), &pods_broker);
    json_decref (job.mounts);
}

/* An older server drops the field: then the Job controller makes the pods of this Job
 * and all later ones. */
static void test_dropped (void **state)
{
    json_t *kept = json_pack ("{s:{s:s}}", "spec", "managedBy", pods_broker.managed_by),
           *dropped = json_pack ("{s:{}}", "spec"),
           *other = json_pack ("{s:{s:s}}", "spec", "managedBy", "kubernetes.io/other");

    (void)state;
    assert_ptr_equal (podmaker_of (kept), &pods_broker);
    assert_ptr_equal (podmaker_of (dropped), &pods_controller);
    assert_ptr_equal (podmaker_of (other), &pods_controller);
    assert_true (podmaker_accept (&k, &pods_broker, podmaker_of (kept)));
    assert_false (x.pods_dropped);
    assert_true (podmaker_accept (&k, &pods_broker, podmaker_of (dropped)));
    assert_ptr_equal (podmaker_choose (&k), &pods_controller);
    set_pods ("broker");
    assert_false (podmaker_accept (&k, &pods_broker, podmaker_of (dropped)));
    assert_true (k.start_lost && !k.start_retry);
    assert_non_null (strstr (k.fin.text, "managedBy"));
    json_decref (kept);
    json_decref (dropped);
    json_decref (other);
}

int main (void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup (test_choice, setup),
        cmocka_unit_test_setup (test_missing_right, setup),
        cmocka_unit_test_setup (test_claims, setup),
        cmocka_unit_test_setup (test_dropped, setup),
    };

    return cmocka_run_group_tests (tests, NULL, NULL);
}
