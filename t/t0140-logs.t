#!/bin/sh
test_description='fluxq-logs: the output so far, to the end of the job on request, by rank and stream'
. "$(dirname "$0")/lib.sh"

start_broker
chmod 711 "$FLUXQ_RUN"

write_script talk.sh <<'END'
#!/bin/sh
echo "first line"
echo "to stderr" >&2
while ! test -e "$1"; do sleep 0.05; done
echo "last line"
END

test_expect_success 'fluxq-logs shows the output so far of a running job' '
    id=$(fluxq-submit -o /dev/null talk.sh "$PWD/go1") &&
    wait_until 20 sh -c "fluxq-logs $id | grep -q \"to stderr\"" &&
    fluxq-logs $id >out && grep -x "first line" out && test_must_fail grep "last line" out &&
    wait_job_state $id RUNNING
'

test_expect_success '--follow continues to the end of the job and exits then' '
    fluxq-logs --follow $id >followed &
    logs=$! &&
    wait_until 20 grep -q "first line" followed && : >go1 &&
    wait $logs && tail -n 1 followed | grep -x "last line" && wait_job_state $id COMPLETED
'

test_expect_success 'after the end of the job fluxq-logs shows all output once' '
    fluxq-logs $id | sort >out && printf "first line\nlast line\nto stderr\n" >wanted &&
    test_cmp wanted out && fluxq-logs -f $id | sort >out && test_cmp wanted out
'

test_expect_success '--stdout and --stderr choose the stream' '
    printf "first line\nlast line\n" >wanted && fluxq-logs --stdout $id >out && test_cmp wanted out &&
    echo "to stderr" >wanted && fluxq-logs --stderr $id >out && test_cmp wanted out &&
    fluxq-logs --stdout --stderr $id | wc -l | grep -x 3
'

test_expect_success '--rank shows one node of the job' '
    id=$(fluxq-submit --wait -o /dev/null -N 2 -- sh -c "echo rank \$FLUXQ_NODEID; echo \$SLURM_PROCID") &&
    fluxq-logs $id | wc -l | grep -x 4 && fluxq-logs --rank 1 $id >out && cat out &&
    test "$(wc -l <out)" -eq 2 && grep -x 1 out && test_must_fail grep -x 0 out &&
    test_expect_code 1 fluxq-logs --rank 7 $id >out 2>err && test_must_be_empty out && grep "no rank 7: it has 2 nodes" err &&
    test_expect_code 1 fluxq-logs --task 7 $id >out 2>err && test_must_be_empty out && grep "no task 7: it has 2 tasks" err &&
    id=$(fluxq-submit -o /dev/null -- sleep 1000) && wait_job_state $id RUNNING &&
    test_expect_code 1 timeout 20 fluxq-logs -f --rank 1 $id 2>err && grep "no rank 1: it has 1 node" err && fluxq-cancel $id
'

test_expect_success 'fluxq-logs prints the bytes that the job wrote' '
    head -c 300000 /dev/urandom >random &&
    id=$(fluxq-submit --wait -o /dev/null -- cat "$PWD/random") &&
    fluxq-logs $id >out && cmp random out
'

test_expect_success 'a held job has no output, and --follow waits for its start' '
    id=$(fluxq-submit --hold -o /dev/null -- echo hello) &&
    fluxq-logs $id >out 2>err && test_must_be_empty out && grep "nothing yet: it is PENDING" err &&
    { fluxq-logs -f $id >out & } && logs=$! &&
    fluxq-ctl release $id && wait $logs && echo hello >wanted && test_cmp wanted out
'

test_expect_success 'for a job that could not start fluxq-logs prints the reason' '
    id=$(fluxq-submit -o /nosuch/dir/out -- true) && wait_job_state $id FAILED &&
    fluxq-logs $id >out 2>err && cat out err | grep "/nosuch"
'

test_expect_success 'fluxq-logs exits without a message when its reader closes the pipe' '
    id=$(fluxq-submit --wait -o /dev/null -- seq 100000) &&
    fluxq-logs $id 2>err | head -n 1 | grep -x 1 && test_must_be_empty err
'

test_expect_success ROOT 'the output of another user is not shown' '
    (cd / && test_expect_code 1 setpriv --reuid=65534 --regid=65534 --clear-groups \
        fluxq-logs $id) >out 2>err &&
    test_must_be_empty out && grep "job $id" err
'

test_expect_success 'an unknown job and wrong usage are refused' '
    test_expect_code 1 fluxq-logs 99999 2>err && grep 99999 err &&
    test_expect_code 2 fluxq-logs && test_expect_code 2 fluxq-logs x && test_expect_code 2 fluxq-logs 1 2 &&
    test_expect_code 2 fluxq-logs --rank -1 $id && test_expect_code 2 fluxq-logs --rank x $id
'

test_done
