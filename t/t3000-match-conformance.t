#!/bin/sh
# The cases of ../shared/conformance/fluxion are recorded answers of the peer's own tool. The test
# leaves out cases that count the peer's internals (impl-visits, impl-stats).
# t/match/known-differences lists the other cases that differ, with reasons; a listed case that
# passes fails this test, too.
test_description='fluxq-match gives the same answers as Fluxion'
. "$(dirname "$0")/lib.sh"

run=$FLUXQ_SHARED_DIR/conformance/fluxion/run
if ! [ -x "$run" ]; then
    skip_all="the conformance data of Fluxion is not here: shared"
    test_done
fi
known=$FLUXQ_SOURCE_DIR/t/match/known-differences

# known_ids: prints the known cases, one a line.
known_ids()
{
    sed 's/#.*//' "$known" | awk 'NF { print $1 }' | sort
}

test_expect_success 'the conformance cases run' '
    "$run" --list --only "^(?!.*impl-)" >cases && test "$(wc -l <cases)" -ge 600 &&
    { "$run" --tool "$(command -v fluxq-match)" --only "^(?!.*impl-)" >report || :; } &&
    tail -n 1 report | grep -E "^[0-9]+ passed, [0-9]+ failed$" &&
    test "$(tail -n 1 report | tr -dc "0-9 " | awk "{ print \$1 + \$2 }")" -eq "$(wc -l <cases)" &&
    sed -n "s/^FAIL \([^ ]*\) .*/\1/p" report | sort >failed
'

test_expect_success 'every case passes except the known differences' '
    known_ids >known && comm -23 failed known >unknown &&
    while read -r id; do grep "^FAIL $id " report; done <unknown &&
    test_must_be_empty unknown
'

test_expect_success 'every known difference still differs, and has a reason' '
    known_ids >known && comm -13 failed known >gone && test_must_be_empty gone &&
    sed "s/#.*//" "$known" | awk "NF == 1" >bare && test_must_be_empty bare
'

test_done
