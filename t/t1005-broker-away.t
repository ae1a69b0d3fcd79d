#!/bin/sh
test_description='commands that follow jobs do not notice a restart or kill of the broker'
. "$(dirname "$0")/lib.sh"

start_broker

# Prints numbered lines of two tasks without a pause until the file $1 exists.
write_script lines.sh <<'END'
#!/bin/sh
n=0
while ! test -e "$1"; do
    for i in 1 2 3 4 5 6 7 8 9 10; do
        n=$((n + 1)); printf "line %d of %d " $n $FLUXQ_PROCID; printf "and its end\n"
    done
    sleep 0.01
done
END

# Three restarts of the broker: after a kill, after a clean stop, after a kill.
away_thrice()
{
    kill_broker && start_broker && restart_broker && kill_broker && start_broker
}

grown()
{
    test "$(wc -c <"$1")" -gt "$2"
}

test_expect_success 'after restarts fluxq-logs -f continues without a lost or repeated line' '
    rm -f go followed &&
    id=$(fluxq-submit -n 2 -o /dev/null -- ./lines.sh "$PWD/go") &&
    { fluxq-logs -f -l $id >followed 2>err & } && logs=$! &&
    wait_until 20 grown followed 2000 && away_thrice && wait_until 20 grown followed $(($(wc -c <followed) + 2000)) &&
    : >go && wait $logs && wait_job_state $id COMPLETED &&
    fluxq-logs -l $id >all && cmp followed all &&
    fluxq-logs --task 1 $id >got && n=$(wc -l <got) && test $n -gt 20 &&
    seq -f "line %.0f of 1 and its end" $n >wanted && test_cmp wanted got
'

test_expect_success 'after restarts fluxq-attach continues, and exits with the exit status of the job' '
    rm -f go followed &&
    id=$(fluxq-submit -o /dev/null -- sh -c "./lines.sh \"$PWD/go\"; exit 7") && wait_job_state $id RUNNING &&
    { fluxq-attach $id >followed 2>err & } && attach=$! &&
    wait_until 20 grown followed 2000 && away_thrice && : >go && test_expect_code 7 wait $attach &&
    fluxq-logs $id >all && cmp all followed
'

test_expect_success 'fluxq-queue --watch shows changes after a restart' '
    rm -f go shown && id=$(fluxq-submit -o /dev/null -- sh -c "until test -e \"$PWD/go\"; do sleep 0.05; done") &&
    { fluxq-queue --watch --state all -j $id -o "id,state" >shown 2>err & } && watch=$! &&
    wait_until 20 grep -q RUNNING shown && kill_broker && start_broker && restart_broker &&
    : >go && wait_until 20 grep -q COMPLETED shown && kill $watch && test_expect_code 143 wait $watch
'

test_expect_success 'fluxq-submit --wait reports the end of the job, also if the job ended without a broker' '
    rm -f go && { fluxq-submit -o /dev/null --wait -- sh -c "until test -e \"$PWD/go\"; do sleep 0.05; done; exit 5" >id 2>err & } &&
    submit=$! && wait_until 20 test -s id && wait_job_state $(cat id) RUNNING &&
    away_thrice && kill_broker && : >go && start_broker && test_expect_code 5 wait $submit
'

newest()
{
    fluxq-queue --state all --no-header --format "%i" | sort -n | tail -n 1
}

# A step that echoes its input and numbers lines of its own until the file $1 exists.
write_script step.sh <<'END'
#!/bin/sh
exec 3<&0
cat <&3 &
n=0
while ! test -e "$1"; do n=$((n + 1)); echo "own $n" >&2; sleep 0.01; done
wait
echo "own end $n" >&2
exit 9
END

# Each number of the step is in $1 exactly once.
is_whole()
{
    sed -n "s/^own \([0-9]*\)$/\1/p" "$1" >numbers && seq "$(sed -n "s/^own end //p" "$1")" >wanted &&
        cmp numbers wanted
}

# Sends the input in parts while the broker stops and starts; then closes the input.
feed()
{
    for part in 1 2 3 4 5 6; do
        seq -f "in $part %.0f" 1 20000
        case $part in
        2 | 4) wait_until 60 test -e "fed.$part" || return 1 ;;
        esac
    done
}

test_expect_success 'the step of fluxq-run goes on, and input, output and exit status arrive once' '
    rm -f go fed.* out && : >fed.2 && : >fed.4 && feed >sent && rm fed.2 fed.4 &&
    { (feed | fluxq-run ./step.sh "$PWD/go" >out 2>err; echo $? >code) & } && run=$! &&
    wait_until 20 grep -q "^own 20$" err && id=$(newest) && kill_broker && : >fed.2 && start_broker &&
    wait_until 20 grep -q "in 3" out && restart_broker && kill_broker && : >fed.4 && start_broker &&
    wait_until 20 grep -q "in 6 20000" out && kill_broker && : >go && start_broker &&
    wait $run && test "$(cat code)" -eq 9 && is_whole err && cmp sent out && wait_job_state $id FAILED 20 &&
    test "$(job_field $id exit_code)" -eq 9
'

test_expect_success 'output and exit status of a step that ends without a broker arrive once' '
    rm -f go out && { fluxq-run -n 2 -l sh -c "echo begins; until test -e go; do sleep 0.02; done; seq 1 30000" >out 2>err & } && run=$! &&
    wait_until 20 grep -q "1: begins" out && id=$(newest) && kill_broker && : >go && start_broker && wait $run &&
    for task in 0 1; do
        { echo begins; seq 1 30000; } >wanted && sed -n "s/^$task: //p" out >got && cmp wanted got || return 1
    done && wait_job_state $id COMPLETED 20
'

test_expect_success 'an allocation of fluxq-alloc and its steps survive two restarts' '
    rm -f go out && { fluxq-alloc -N 2 sh -c "fluxq-run -N 2 -n 2 sh -c \"echo begins; until test -e go; do sleep 0.02; done; echo ends\"; echo status \$?; fluxq-run -n 1 echo next" \
        >out 2>err </dev/null & } && alloc=$! &&
    wait_until 20 sh -c "test \$(grep -c begins out) -eq 2" && id=$(newest) && kill_broker && start_broker && restart_broker && : >go &&
    wait $alloc && sort out >got && printf "%s\n" begins begins ends ends next "status 0" >wanted && test_cmp wanted got &&
    wait_job_state $id COMPLETED 20
'

test_expect_success 'after the death of broker and fluxq-run the step ends when fluxq-run would have given up' '
    rm -f pid && { fluxq-run --broker-wait 1s sh -c "echo \$\$ >pid; exec sleep 3136.5" 2>err & } && run=$! &&
    wait_until 20 test -s pid && id=$(newest) && kill_broker && kill -KILL $run && start_broker &&
    wait_job_state $id FAILED 40 && wait_until 20 lib_gone $(cat pid)
'

test_expect_success 'fluxq-run gives up with a message at the end of --broker-wait' '
    rm -f pid && { fluxq-run --broker-wait 3s sh -c "echo \$\$ >pid; exec sleep 3137.5" 2>err & } && run=$! &&
    wait_until 20 test -s pid && id=$(newest) && kill_broker && test_expect_code 1 wait $run &&
    grep "waiting for the broker" err && start_broker && wait_job_state $id FAILED 40 && wait_until 20 lib_gone $(cat pid)
'

test_done
