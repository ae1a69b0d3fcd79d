#!/bin/sh
test_description='fluxq-queue: the selected jobs in the selected columns'
. "$(dirname "$0")/lib.sh"

start_broker

submit()
{
    fluxq-submit -o /dev/null "$@"
}

# ids ARGS...: the ids of a listing, in one line.
ids()
{
    fluxq-queue --no-header -o id "$@" | tr -d ' ' | tr '\n' ' '
}

ended=$(submit -J ended --wait -- true)
held=$(submit -J held --hold -- true)
wide=$(submit -J a-rather-long-name-of-a-job --hold -N 2 -- true)
running=$(submit -J running -- sleep 1000)
wait_job_state $running RUNNING

test_expect_success 'the listing shows pending and running jobs, and no ended jobs' '
    test "$(ids)" = "$running $held $wide " &&
    fluxq-queue >out && head -n 1 out | grep -E "^ *JOBID +QUEUE +NAME +USER +ST +TIME +NODES +NODELIST\(REASON\)$" &&
    grep -E "^ *$running +batch +running +$(id -un) +R +0:[0-9]+ +1 +node[0-9]$" out &&
    grep -E "^ *$held +batch +held +$(id -un) +PD +0:00 +1 +\(.*[Hh]eld.*\)$" out
'

test_expect_success 'the id is the first word of a line, for scripts' '
    fluxq-queue | awk -v id=$held "\$1 == id { found = 1 } END { exit !found }" &&
    test_must_fail sh -c "fluxq-queue | grep -q \"^ *$ended \""
'

test_expect_success 'filters select by state in any form, id and range, name, user and queue, and -a selects all jobs' '
    ids -a | grep -w "$ended" &&
    test "$(ids -t RUNNING)" = "$running " && test "$(ids -t r)" = "$running " &&
    test "$(ids -t PD,CD)" = "$held $wide $ended " && test "$(ids --state finished)" = "$ended " &&
    test "$(ids $held-$wide)" = "$held $wide " && test "$(ids -j $ended,$held)" = "$held $ended " &&
    test "$(ids $ended $running)" = "$running $ended " &&
    test "$(ids -n held,running)" = "$running $held " &&
    test "$(ids --me -t running)" = "$running " && test "$(ids -u $(id -un) -t running)" = "$running " &&
    test -z "$(ids -u nosuchuser)" && test -z "$(ids -q nosuchqueue)" &&
    test "$(ids -p batch -t running)" = "$running "
'

test_expect_success 'an unknown id is an error, an empty listing is not' '
    test_expect_code 1 fluxq-queue 99999 2>err && grep "there is no job 99999" err &&
    fluxq-queue -u 61234 >out && test "$(wc -l <out)" -eq 1
'

test_expect_success 'squeue formats set widths and alignment, and keep text between columns' '
    fluxq-queue --no-header -j $held -o "%.10i|%8j|%.3t|%T" >out &&
    printf "%10d|%-8s|%3s|PENDING\n" $held held PD >wanted && test_cmp wanted out &&
    fluxq-queue --no-header -j $wide -o "%5j|%D" >out && echo "a-rat|2" >wanted && test_cmp wanted out
'

test_expect_success 'every column that --help names can be shown' '
    fluxq-queue --help | sed -n "s/^  [% ].  \([a-z_]*\) .*/\1/p" >names &&
    test "$(wc -l <names)" -ge 25 &&
    for name in $(cat names); do
        fluxq-queue -a --no-header -o "id,$name" >out && test "$(wc -l <out)" -eq 4 || return 1
    done &&
    fluxq-queue --help | sed -n "s/^  \(%.\)  [a-z_]*  .*/\1/p" >letters &&
    test "$(wc -l <letters)" -ge 18 && fluxq-queue -a -o "$(tr "\n" " " <letters)" >out
'

test_expect_success 'wrong formats, ids, options and states are refused' '
    test_expect_code 2 fluxq-queue -o "%Y" 2>err && grep "%Y" err &&
    test_expect_code 2 fluxq-queue -o id,nope 2>err && grep nope err &&
    test_expect_code 2 fluxq-queue 0 && test_expect_code 2 fluxq-queue 5-3 &&
    test_expect_code 2 fluxq-queue 1-x 2>err && grep "1-x" err &&
    test_expect_code 2 fluxq-queue --nope && test_expect_code 2 fluxq-queue --watch=0 &&
    test_expect_code 2 fluxq-queue --json -o id &&
    test_expect_code 1 fluxq-queue -t NOPE 2>err && grep NOPE err
'

test_expect_success '--json prints the answer of the broker' '
    fluxq-queue --json >out &&
    jq -e ".total == 3 and (.jobs | length) == 3" out &&
    jq -e ".jobs[] | select(.id == $running) | .state == \"RUNNING\" and (.start_time | type) == \"number\"" out
'

# on_terminal COLUMNS ROWS COMMAND: the output of COMMAND on a terminal of that size.
on_terminal()
{
    script -qec "stty cols $1 rows $2; $3" /dev/null </dev/null | tr -d '\r'
}

test_expect_success 'on a terminal columns fit, cut values have a mark, and reasons wrap; in a pipe nothing is cut' '
    on_terminal 60 24 "fluxq-queue" >out && cat out &&
    test "$(awk "{ print length }" out | sort -n | tail -n 1)" -le 60 &&
    grep "a-rather-[a-z-]*+ " out && grep "NODELIST(REASON)" out &&
    on_terminal 30 24 "fluxq-queue -j $wide -o id,reason_text" >out && cat out &&
    test "$(awk "{ print length }" out | sort -n | tail -n 1)" -le 30 && test_must_fail grep "+$" out &&
    test "$(sed 1d out | sed "s/^ *[0-9]* *//" | tr "\n" " ")" = "$(fluxq-queue --no-header -j $wide -o reason_text) " &&
    on_terminal 200 24 "fluxq-queue" | grep "a-rather-long-name-of-a-job " &&
    fluxq-queue | grep "a-rather-long-name-of-a-job "
'

test_expect_success '--watch shows every change without polling until it is interrupted' '
    rm -f out
    env --default-signal=INT fluxq-queue --watch -n new,held >out 2>err &
    watch=$! &&
    wait_until 10 grep -q held out &&
    sleep 1 && before=$(grep -c JOBID out) && sleep 1.5 &&
    test "$(grep -c JOBID out)" -eq $before && # without a change there is no request
    submit -J new --hold -- true &&
    wait_until 10 grep -q new out &&
    kill -INT $watch && test_expect_code 130 wait $watch && test_must_be_empty err
'

test_expect_success '--watch=SECONDS repeats the listing also without a change' '
    rm -f out
    env --default-signal=INT fluxq-queue --watch=0.5 -t running >out 2>err &
    watch=$! &&
    wait_until 10 sh -c "test \$(grep -c JOBID out) -ge 4" &&
    kill -INT $watch && test_expect_code 130 wait $watch
'

test_expect_success 'a watched listing on a terminal stays within its height' '
    on_terminal 80 5 "timeout -s INT 2 fluxq-queue --watch" >out || : &&
    grep -q JOBID out && grep -q running out && grep -qx "\.\.\." out &&
    test_must_fail grep a-rather out
'

test_expect_success 'fluxq-queue exits without a message when its reader closes the pipe' '
    fluxq-queue -a 2>err | : && test_must_be_empty err
'

test_expect_success 'without a broker the command fails and names the socket' '
    test_expect_code 1 fluxq-queue --broker unix:///nonexistent/f.sock 2>err &&
    grep "/nonexistent/f.sock" err
'

test_expect_success 'cancelled jobs leave the listing' '
    fluxq-cancel --me && wait_job_state $running CANCELLED && wait_job_state $held CANCELLED &&
    test -z "$(ids)"
'

test_expect_success 'an unknown user or queue is an error, not an empty listing' '
    test_expect_code 1 fluxq-queue -u nosuchuser 2>err && grep "no user .nosuchuser" err &&
    test_expect_code 1 fluxq-queue -p nosuch 2>err && grep "no queue .nosuch" err &&
    test_expect_code 1 fluxq-queue -u "$(id -un),nosuchuser" >out 2>err && grep "no user .nosuchuser" err &&
    test_must_be_empty out && test_expect_code 1 fluxq-queue -p batch,nosuch 2>err && grep "no queue .nosuch" err &&
    test_expect_code 1 fluxq-queue --json -u nosuchuser 2>err && grep "no user" err &&
    test_expect_code 1 timeout 20 fluxq-queue --watch -p nosuch 2>err && grep "no queue" err &&
    fluxq-queue -u 61234 && fluxq-queue -u me -t failed && fluxq-queue -p batch -t timeout
'

test_done
