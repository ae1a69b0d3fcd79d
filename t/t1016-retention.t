#!/bin/sh
test_description='the journal does not grow forever: ended jobs leave it, needed jobs stay, and the file shrinks

A journal that only grows, or a removed job on which another job depends, would fail this.
'
. "$(dirname "$0")/lib.sh"

journal=$BROKER_STATE/journal.db

# Submits over the API and without a key, as a key keeps its job for a day. Prints the id.
submit()
{
    curl -s --unix-socket "$FLUXQ_RUN/fluxqd.sock" --data-binary @"$1" 'http://fluxqd/v1/jobs?urgency=0' | jq .id
}

submit_and_cancel()
{
    first=$(submit "$1") && last=$first &&
        for _ in $(seq 2 "$2"); do last=$(submit "$1") || return; done &&
        fluxq-cancel "$first-$last" && wait_job_state "$last" CANCELLED
}

rows()
{
    sqlite3 "$journal" "SELECT count(*) FROM $1"
}

pages()
{
    sqlite3 "$journal" 'PRAGMA page_count'
}

at_most()
{
    [ "$("$1" "$2")" -le "$3" ]
}

fluxq-submit --dry-run -J small -- true >small.json
fluxq-submit --dry-run -J large -- true "$(head -c 100000 /dev/zero | tr '\0' x)" >large.json

cat >fluxq.yaml <<\END
executor: local
local: {nodes: 4}
keep-finished: 5
journal: {jobs: 20}
END

test_expect_success 'wrong settings of the journal are refused' '
    fluxqd --check --config fluxq.yaml &&
    echo "journal: {jobs: many}" >wrong.yaml && test_must_fail fluxqd --check --config wrong.yaml &&
    echo "journal: {nosuch: 1}" >wrong.yaml && test_must_fail fluxqd --check --config wrong.yaml 2>why && grep nosuch why
'
start_broker --config fluxq.yaml
test_expect_success 'jobs beyond the limit leave the journal, and the file shrinks' '
    needed=$(submit small.json) && fluxq-cancel $needed && wait_job_state $needed CANCELLED &&
    waits=$(fluxq-submit --hold --dependency afterany:$needed -- true) &&
    keyed=$(fluxq-submit --hold -- true) && fluxq-cancel $keyed &&
    submit_and_cancel large.json 60 &&
    test "$(rows job)" -ge 62 && before=$(pages) && test $before -gt 1400 &&
    fluxq-ctl journal compact >said && grep compacted said &&
    wait_until 20 at_most rows job 23 &&
    wait_until 20 at_most pages "" $((before / 2)) &&
    test "$(fluxq-ctl status --json | jq .journal.removed)" -ge 39
'
test_expect_success 'the newest jobs stay in the journal, complete; the history has the others without their events' '
    fluxq-show job $last --events >/dev/null && fluxq-show job $((last - 15)) >/dev/null &&
    test_must_fail fluxq-show job $((last - 40)) --events 2>why && grep "no job" why &&
    fluxq-show job $((last - 40)) | grep "^State: *CANCELLED"
'
test_expect_success 'a job with a dependent job, and a job with a key, stay in the journal' '
    fluxq-show job $needed && fluxq-show job $keyed &&
    restart_broker && fluxq-ctl release $waits && wait_job_state $waits COMPLETED
'
test_expect_success 'submits go on while 300 jobs are removed, and the checksum over all rows is right' '
    submit_and_cancel small.json 300 &&
    { fluxq-ctl journal compact; } >/dev/null &&
    id=$(fluxq-submit -- true) && wait_job_state $id COMPLETED &&
    wait_until 20 at_most rows job 30 &&
    kill_broker &&
    fluxq-ctl journal check --state "$BROKER_STATE" &&
    start_broker --config fluxq.yaml && test "$(fluxq-submit --hold -- true)" = $((id + 1))
'
test_expect_success 'with journal.keep jobs leave the journal after this time' '
    sed "s/jobs: 20/keep: 1s/" fluxq.yaml >kept.yaml &&
    restart_broker --config kept.yaml &&
    submit_and_cancel small.json 10 &&
    gone() { fluxq-ctl journal compact >/dev/null && at_most rows "job WHERE inactive = 1 AND key IS NULL" 5; } &&
    wait_until 20 gone
'
test_done
