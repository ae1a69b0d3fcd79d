/* Conditions for taking a Lease: the edges that decide whether two brokers act at
 * once. */
#include "exec/kube/lease.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define OURS "0123456789abcdef0123456789abcdef"

static enum lease_view judge (const char *text, double unchanged)
{
    json_t *lease = json_loads (text, 0, NULL);

    assert_non_null (lease);
    enum lease_view view = lease_judge (lease, OURS, unchanged);
    json_decref (lease);
    return view;
}

#define META "\"metadata\":{\"annotations\":{\"" LEASE_STATE "\":\"" OURS "\"}}"
#define HELD(seconds)                                                                    \
    "{" META ",\"spec\":{\"holderIdentity\":\"a\",\"leaseDurationSeconds\":" seconds "}" \
    "}"

static void test_nobody (void **state)
{
    (void)state;
    assert_int_equal (judge ("{" META ",\"spec\":{\"holderIdentity\":\"\"}}", 0),
                      LEASE_FREE);
    assert_int_equal (judge ("{}", 0), LEASE_FREE);
    assert_int_equal (judge ("{\"spec\":[]}", 0), LEASE_FREE);
}

/* The Lease must stay unchanged for the time of its holder, and at least for the
 * time of this broker. */
static void test_expiry (void **state)
{
    (void)state;
    assert_int_equal (judge (HELD ("10"), 0), LEASE_TAKEN);
    assert_int_equal (judge (HELD ("10"), 10), LEASE_TAKEN);
    assert_int_equal (judge (HELD ("10"), 10.1), LEASE_EXPIRED);
    assert_int_equal (judge (HELD ("30"), 29), LEASE_TAKEN);
    assert_int_equal (judge (HELD ("30"), 31), LEASE_EXPIRED);
    assert_int_equal (judge (HELD ("0"), LEASE_DEADLINE), LEASE_TAKEN);
    assert_int_equal (judge (HELD ("-5"), 9), LEASE_TAKEN);
    assert_int_equal (judge (HELD ("9000000000000000000"), 3601), LEASE_EXPIRED);
    assert_int_equal (judge (HELD ("\"x\""), 9), LEASE_TAKEN);
    /* A holder ends itself well before another broker may take the Lease. */
    assert_true (LEASE_DEADLINE + LEASE_RENEW < LEASE_SECONDS);
}

/* A broker with another state may not take the Lease, even if it is free. */
static void test_foreign (void **state)
{
    static const char other[] = "{\"metadata\":{\"annotations\":{\"" LEASE_STATE
                                "\":\"ff\"}},\"spec\":{\"holderIdentity\":\"\"}}";

    (void)state;
    assert_int_equal (judge (other, 0), LEASE_FOREIGN);
    assert_int_equal (judge (other, 100000), LEASE_FOREIGN);
}

int main (void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test (test_nobody),
        cmocka_unit_test (test_expiry),
        cmocka_unit_test (test_foreign),
    };

    return cmocka_run_group_tests (tests, NULL, NULL);
}
