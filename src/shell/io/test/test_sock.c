/* The addresses of a launch file: the rank that they mean, and their text. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "shell/io/sock.h"

static void assert_address (const char *text, uint32_t rank, const char *expected)
{
    char *address = sock_of_rank (text, rank);
    assert_non_null (address);
    assert_string_equal (address, expected);
    free (address);
}

static void a_rank_takes_its_place_in_the_address (void **state)
{
    (void)state;
    assert_address ("unix:/run/job7/sock-%r", 3, "unix:/run/job7/sock-3");
    assert_address ("tcp:j-%r.j.ns.svc.:7717", 4294967294u,
                    "tcp:j-4294967294.j.ns.svc.:7717");
    assert_address ("%r%r%r", 4294967294u, "429496729442949672944294967294");
    assert_address ("tcp:0.0.0.0:7717", 5, "tcp:0.0.0.0:7717");
    assert_address ("", 5, "");
}

static void a_percent_sign_can_be_written (void **state)
{
    (void)state;
    assert_address ("unix:/a%%r/%r", 9, "unix:/a%r/9");
    assert_address ("tcp:[fe80::1%eth0]:1", 9, "tcp:[fe80::1%eth0]:1");
    assert_address ("unix:/a%", 9, "unix:/a%");
    assert_address ("unix:/a%%%r", 9, "unix:/a%9");
}

static void only_a_rank_makes_addresses_differ (void **state)
{
    (void)state;
    assert_true (sock_has_rank ("unix:/a/%r"));
    assert_true (sock_has_rank ("unix:/a%%%r"));
    assert_false (sock_has_rank ("unix:/a%%r"));
    assert_false (sock_has_rank ("unix:/a"));
    assert_false (sock_has_rank ("tcp:[fe80::1%eth0]:1"));
    assert_false (sock_has_rank ("unix:/a%"));
}

static void an_address_is_one_of_two_forms (void **state)
{
    (void)state;
    struct error err = { 0 };
    assert_int_equal (sock_check ("unix:/a", &err), 0);
    assert_int_equal (sock_check ("tcp:host-%r:7717", &err), 0);
    assert_true (sock_check ("unix:a", &err) < 0);
    assert_true (sock_check ("tcp:host", &err) < 0);
    assert_true (sock_check ("tcp::7717", &err) < 0);
    assert_true (sock_check ("tcp:host:%r", &err) < 0);
}

int main (void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test (a_rank_takes_its_place_in_the_address),
        cmocka_unit_test (a_percent_sign_can_be_written),
        cmocka_unit_test (only_a_rank_makes_addresses_differ),
        cmocka_unit_test (an_address_is_one_of_two_forms),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
