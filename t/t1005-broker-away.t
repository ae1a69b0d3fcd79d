#!/bin/sh
test_description='those who follow jobs do not notice that the broker is restarted or killed'
. "$(dirname "$0")/lib.sh"

start_broker

# Numbered lines of two tasks, without a pause, until the file $1 is there.
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

# Away and back: killed, as it should, killed.
away_thrice()
{
    kill_broker && start_broker && restart_broker && kill_broker && start_broker
}

grown()
{
    test "$(wc -c <"$1")" -gt "$2"
}

test_expect_success 'fluxq-logs -f goes on where it was: no line is lost, none comes twice' '
    rm -f go followed &&
    id=$(fluxq-submit -n 2 -o /dev/null -- ./lines.sh "$PWD/go") &&
    { fluxq-logs -f -l $id >followed 2>err & } && logs=$! &&
    wait_until 20 grown followed 2000 && away_thrice && wait_until 20 grown followed $(($(wc -c <followed) + 2000)) &&
    : >go && wait $logs && wait_job_state $id COMPLETED &&
    fluxq-logs -l $id >all && cmp followed all &&
    fluxq-logs --task 1 $id >got && n=$(wc -l <got) && test $n -gt 20 &&
    seq -f "line %.0f of 1 and its end" $n >wanted && test_cmp wanted got
'

test_expect_success 'fluxq-attach does, too, and ends with the exit status of the job' '
    rm -f go followed &&
    id=$(fluxq-submit -o /dev/null -- sh -c "./lines.sh \"$PWD/go\"; exit 7") && wait_job_state $id RUNNING &&
    { fluxq-attach $id >followed 2>err & } && attach=$! &&
    wait_until 20 grown followed 2000 && away_thrice && : >go && test_expect_code 7 wait $attach &&
    fluxq-logs $id >all && cmp all followed
'

test_expect_success 'fluxq-queue --watch shows what changes after a restart' '
    rm -f go shown && id=$(fluxq-submit -o /dev/null -- sh -c "until test -e \"$PWD/go\"; do sleep 0.05; done") &&
    { fluxq-queue --watch --state all -j $id -o "id,state" >shown 2>err & } && watch=$! &&
    wait_until 20 grep -q RUNNING shown && kill_broker && start_broker && restart_broker &&
    : >go && wait_until 20 grep -q COMPLETED shown && kill $watch && test_expect_code 143 wait $watch
'

test_expect_success 'fluxq-submit --wait tells how the job ended, also when it ended meanwhile' '
    rm -f go && { fluxq-submit -o /dev/null --wait -- sh -c "until test -e \"$PWD/go\"; do sleep 0.05; done; exit 5" >id 2>err & } &&
    submit=$! && wait_until 20 test -s id && wait_job_state $(cat id) RUNNING &&
    away_thrice && kill_broker && : >go && start_broker && test_expect_code 5 wait $submit
'

test_done
