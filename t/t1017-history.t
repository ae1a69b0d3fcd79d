#!/bin/sh
test_description='ended jobs go to the history: none is lost by kill -9, and none stops when its disk does

An ended job that the history lacks, has twice or keeps too long, or a job that fails because
the history cannot be written, would fail this.
'
. "$(dirname "$0")/lib.sh"

history=$BROKER_STATE/history.db

# Submits over the API and without a key, as a key keeps its job in the journal for a day.
submit()
{
    curl -s --unix-socket "$FLUXQ_RUN/fluxqd.sock" --data-binary @"$1" "http://fluxqd/v1/jobs?urgency=${2:-16}" | jq .id
}

query()
{
    sqlite3 -cmd ".timeout 5000" "$1" "$2"
}

history_has()
{
    [ "$(query "$history" "SELECT count(*) FROM job $2")" -eq "$1" ]
}

all_ended()
{
    [ "$(fluxq-queue -t active -o %i --no-header | wc -l)" -eq 0 ]
}

cat >fluxq.yaml <<\END
executor: local
local: {nodes: 4}
keep-finished: 5
journal: {jobs: 10}
END
fluxq-submit --dry-run -J small -- true >small.json

test_expect_success 'wrong settings of the history are refused' '
    for text in "{keep: x}" "{jobs: many}" "{nosuch: 1}"; do
        echo "history: $text" >wrong.yaml && test_must_fail fluxqd --check --config wrong.yaml || return
    done &&
    echo "history: {keep: 730d, jobs: 5000000}" >right.yaml && fluxqd --check --config right.yaml
'

start_broker --config fluxq.yaml
test_expect_success 'a job that has ended is in the history, with its sizes, times and result' '
    id=$(fluxq-submit -n 1 -t 5 --account physics --comment "for all" -- sh -c "exit 3") &&
    wait_job_state $id FAILED &&
    wait_until 10 history_has 1 "WHERE id = $id" &&
    query "$history" "SELECT user, account, comment, name, queue, exit_code, status, ntasks, asked_ntasks, time_limit,
        start_time >= submit_time AND end_time >= start_time, result_text FROM job WHERE id = $id" >row &&
    echo "$(id -un)|physics|for all|sh|batch|3|768|1|1|300.0|1|task 0 on node0: exit status 3" >wanted &&
    test_cmp wanted row &&
    test "$(stat -c %a "$history")" = 600
'
test_expect_success 'the steps of a job are in the history, with their usage' '
    id=$(fluxq-submit -n 2 -- sh -c "fluxq-run -n 1 true; fluxq-run -n 2 false") && wait_job_state $id FAILED &&
    wait_until 10 history_has 1 "WHERE id = $id" &&
    query "$history" "SELECT name FROM step WHERE job = $id AND ntasks = 2 AND json_extract(usage, '\''\$.peak.max'\'') > 1000" >steps &&
    grep -x false steps && grep -x sh steps
'
test_expect_success 'after 10 times kill -9 the history has each ended job once, and the journal removes only those' '
    first=$(submit small.json) && last=$first &&
    for round in 1 2 3 4 5 6 7 8 9 10; do
        for i in 1 2 3 4 5 6 7 8 9 10 11 12; do last=$(submit small.json) || return; done &&
        sleep 0.$round && kill_broker && start_broker --config fluxq.yaml || return
    done &&
    wait_until 60 all_ended &&
    wait_until 20 history_has $((last - first + 1)) "WHERE id BETWEEN $first AND $last" &&
    test "$(query "$history" "SELECT count(*) FROM job WHERE state IS NULL OR first_time IS NULL OR end_time IS NULL")" -eq 0 &&
    fluxq-ctl journal compact &&
    few() { [ "$(query "$BROKER_STATE/journal.db" "SELECT count(*) FROM job")" -le 20 ]; } &&
    wait_until 20 few &&
    history_has $((last - first + 1)) "WHERE id BETWEEN $first AND $last"
'
get()
{
    curl -s --unix-socket "$FLUXQ_RUN/fluxqd.sock" "http://fluxqd$1"
}

test_expect_success 'jobs that the journal no longer has are listed and shown' '
    count=$(get "/v1/history?ids=$first-$last&fields=id&format=tsv" | sort -un | wc -l) &&
    test $count -eq $((last - first + 1)) &&
    test_must_fail fluxq-show job $first --events &&
    fluxq-show job $first >shown && grep "^State: *COMPLETED" shown && grep "^Directory: *$PWD\$" shown &&
    get "/v1/jobs/$first" | jq -e ".id == $first and .state == \"COMPLETED\" and (.steps | length) >= 1" &&
    get "/v1/jobs/999999" | jq -e ".status == 404 and .code == \"unknown-job\""
'
test_expect_success 'pages follow one another, and the last says so' '
    : >ids && after=0 && pages=0 &&
    while [ "$after" != null ]; do
        get "/v1/history?ids=$first-$last&fields=id&limit=50&after=$after" >page && jq ".jobs[].id" page >>ids &&
        after=$(jq .next page) && pages=$((pages + 1)) || return
    done && test $pages -eq 3 && seq $first $last >wanted && test_cmp wanted ids
'
test_expect_success 'wrong questions to the history are refused' '
    for query in fields=nosuch fields=id,id format=xml limit=0 after=x since=x until=-1 state=nosuch ids=x user= \
        "steps=1&format=tsv" steps=2; do
        get "/v1/history?$query" | jq -e ".status == 400" || return
    done
'
test_expect_success 'fluxq-queue --since lists ended jobs of a span of time, with filters' '
    id=$(fluxq-submit -J special --account physics -n 1 -- true) && wait_job_state $id COMPLETED &&
    held=$(fluxq-submit --hold -J special -- true) &&
    wait_until 10 history_has 1 "WHERE id = $id" &&
    fluxq-queue --all --since 00:00 -n special >listed && cat listed &&
    test $(wc -l <listed) -eq 2 && grep -E "^ *JOBID QUEUE +NAME +USER +ST +END_TIME +TIME +NODES +NODELIST *\$" listed &&
    grep -E "^ *$id +batch +special +$(id -un) +CD " listed &&
    fluxq-queue --since 2026-01-01 --until 2026-01-02 --no-header >listed && test_must_be_empty listed &&
    fluxq-queue --since 00:00 -t FAILED -n special --no-header >listed && test_must_be_empty listed &&
    fluxq-queue --since 00:00 --me -j $id -o id,state,account,exit_code --no-header >listed &&
    echo "$id COMPLETED physics 0" >wanted && tr -s " " <listed | sed "s/^ //; s/ \$//" >words && test_cmp wanted words &&
    fluxq-queue --since 00:00 --json -j $id | jq -e ".jobs | length == 1" &&
    test_expect_code 2 fluxq-queue --since 00:00 --watch && test_expect_code 2 fluxq-queue --since 00:00 --why &&
    test_expect_code 2 fluxq-queue --since nonsense && test_must_fail fluxq-queue --since 00:00 -o reason &&
    fluxq-cancel $held
'
test_expect_success 'an array is in the history by its tasks; those that never started are one row' '
    array=$(fluxq-submit -a 1-4%1 -n 1 -- sh -c "test \$FLUXQ_ARRAY_TASK_ID = 1 || sleep 60") &&
    running() { fluxq-queue -t R -o id --no-header | grep "${array}_2"; } && wait_until 20 running &&
    fluxq-cancel $array && wait_until 20 history_has 3 "WHERE array_job = $array" &&
    get "/v1/history?ids=$array&format=tsv&fields=job,st" >rows &&
    printf "%s\t%s\n" "${array}_[3-4]" CA "${array}_1" CD "${array}_2" CA >wanted && test_cmp wanted rows &&
    get "/v1/history?ids=${array}_\[2-3\]&format=tsv&fields=job" >rows && echo "${array}_2" >wanted && test_cmp wanted rows
'
test_expect_success 'jobs of a journal without a history are added at the start' '
    stop_broker && query "$BROKER_STATE/journal.db" "SELECT count(*) FROM job" >rows && rm -f "$history"* &&
    start_broker --config fluxq.yaml &&
    wait_until 20 history_has $(cat rows)
'
test_expect_success 'a damaged history stops no job: the journal keeps the jobs, and a new history gets them' '
    stop_broker && rm -f "$history"-* && echo "this is no data base, but a long text, longer than its header is" >"$history" &&
    start_broker --config fluxq.yaml &&
    id=$(submit small.json) && wait_job_state $id COMPLETED &&
    fluxq-ctl status --json | jq -e ".history.trouble | test(\"move the file away\")" &&
    fluxq-ctl status | grep "move the file away" &&
    for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15; do id=$(submit small.json) || return; done &&
    wait_job_state $id COMPLETED && fluxq-ctl journal compact &&
    test "$(query "$BROKER_STATE/journal.db" "SELECT count(*) FROM job")" -ge 16 &&
    rm "$history" && restart_broker --config fluxq.yaml &&
    wait_until 20 history_has 1 "WHERE id = $id" &&
    test "$(fluxq-ctl status --json | jq .history.trouble)" = null
'
test_expect_success 'while the history is away jobs end as ever; then it gets them' '
    mv "$history" away.db && before=$(fluxq-ctl status --json | jq .history.waiting) && test $before -eq 0 &&
    id=$(submit small.json) && wait_job_state $id COMPLETED &&
    troubled() { fluxq-ctl status --json | jq -e ".history.trouble | . != null and test(\"removed or replaced\")"; } &&
    wait_until 10 troubled &&
    test "$(fluxq-ctl status --json | jq .history.waiting)" -ge 1 &&
    mv away.db "$history" && wait_until 20 history_has 1 "WHERE id = $id" &&
    fine() { fluxq-ctl status --json | jq -e ".history.trouble == null and .history.waiting == 0"; } &&
    wait_until 10 fine
'
test_expect_success 'beyond history.jobs and history.keep jobs leave the history, and do not come back' '
    sed "s/^journal:.*/history: {jobs: 5}/" fluxq.yaml >five.yaml && restart_broker --config five.yaml &&
    wait_until 20 history_has 5 && restart_broker --config five.yaml &&
    id=$(submit small.json) && wait_job_state $id COMPLETED && wait_until 10 history_has 1 "WHERE id = $id" &&
    history_has 6 &&
    sed "s/^journal:.*/history: {keep: 1s}/" fluxq.yaml >second.yaml && sleep 1.1 && restart_broker --config second.yaml &&
    wait_until 20 history_has 0
'
test_done
