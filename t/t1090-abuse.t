#!/bin/sh
test_description='invalid requests are refused with a reason, and the broker goes on'
. "$(dirname "$0")/lib.sh"
. "$FLUXQ_SOURCE_DIR/t/faults.sh"

chmod 755 "$FLUXQ_RUN"
start_broker
test_expect_success 'bodies that are not JSON, or not the expected JSON, are refused' 'helper abuse bodies'
test_expect_success 'jobspecs with absurd counts and other errors are refused' 'helper abuse jobspecs'
test_expect_success 'wrong methods, paths, ids, filters and fields are refused' 'helper abuse requests'
test_expect_success 'text that is not HTTP, and requests that stop half-way, are refused' 'helper abuse wire'
test_expect_success 'a body of 10 MiB is refused' 'helper abuse large'
test_expect_success '3,000 silent connections of one user do not keep the broker from others' 'helper abuse idle 3000'
test_expect_success 'clients that close before the answer do no harm' 'helper abuse leaving'
test_expect_success 'after all this the same broker works, has not grown, and stops cleanly' '
    kill -0 $BROKER_PID && fluxq-submit --wait -o /dev/null -- true &&
    test "$(fluxq-ctl status --json | jq .memory_kib)" -lt 500000 &&
    none_active && stop_broker
'
test_done
