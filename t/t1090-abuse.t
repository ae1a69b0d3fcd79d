#!/bin/sh
test_description='requests that no good client makes: refused with a reason, and the broker goes on'
. "$(dirname "$0")/lib.sh"
. "$FLUXQ_SOURCE_DIR/t/faults.sh"

chmod 755 "$FLUXQ_RUN"
start_broker
test_expect_success 'bodies that are no JSON, or none that is wanted' 'helper abuse bodies'
test_expect_success 'jobspecs with absurd counts and other wrong things' 'helper abuse jobspecs'
test_expect_success 'wrong methods, paths, ids, filters and fields' 'helper abuse requests'
test_expect_success 'what is no HTTP, and what stops half way' 'helper abuse wire'
test_expect_success 'a body of 10 MiB' 'helper abuse large'
test_expect_success '3,000 connections of one user that say nothing: others are served' 'helper abuse idle 3000'
test_expect_success 'clients that go before their answer' 'helper abuse leaving'
test_expect_success 'it is the same broker, it works, it has not grown, and ends in good order' '
    kill -0 $BROKER_PID && fluxq-submit --wait -o /dev/null -- true &&
    test "$(fluxq-ctl status --json | jq .memory_kib)" -lt 500000 &&
    none_active && stop_broker
'
test_done
