#!/bin/sh
test_description='malleable jobs: nodes join and leave at run time, and programs are informed'
. "$(dirname "$0")/lib.sh"
. "$FLUXQ_SOURCE_DIR/t/faults.sh"

shell=$FLUXQ_RUN/fluxq-shell
cp "$FLUXQ_BUILD_DIR/src/shell/fluxq-shell" "$shell"
cp "$FLUXQ_BUILD_DIR/src/shell/fluxq-run" "$FLUXQ_RUN/fluxq-run"
cat >resize.yaml <<END
shell-path: $shell
grace: 1s
resize-grace: 3s
local: {nodes: 8, cores: 4, memory: 1Gi}
queues:
  batch: {default: true}
  small: {max-nodes: 3}
END

# A script that records its signals and lets the test start steps inside the job: the job runs
# the content of cmd.ID, with output in out.ID.
write_script work.sh <<\END
#!/bin/sh
id=$FLUXQ_JOB_ID
echo "$FLUXQ_RESIZE_FILE" >"file.$id"
trap 'echo "$(sed -n s/FLUXQ_RESIZE_STATE=//p "$FLUXQ_RESIZE_FILE") $(sed -n s/FLUXQ_RESIZE_NNODES=//p "$FLUXQ_RESIZE_FILE")" >>heard.$id' WINCH USR1
: >"ready.$id"
n=1
until [ -e "stop.$id" ]; do
    if [ -e "cmd.$id.$n" ]; then
        sh "./cmd.$id.$n" >"out.$id.$n.new" 2>&1
        mv "out.$id.$n.new" "out.$id.$n"
        n=$((n + 1))
    fi
    sleep 0.02
done
END

# work ARGUMENTS...: submits a job that runs until end_job; prints the id when the script is ready.
work()
{
    id=$(fluxq-submit -o /dev/null -t 5 "$@" ./work.sh) && wait_job_state "$id" RUNNING \
        && wait_until 10 test -e "ready.$id" && echo "$id"
}

# in_job ID N COMMAND: runs COMMAND as the N-th command of that job; prints the output.
in_job()
{
    echo "$3" >"cmd.$1.new" && mv "cmd.$1.new" "cmd.$1.$2" \
        && wait_until 15 test -e "out.$1.$2" && cat "out.$1.$2"
}

end_job()
{
    touch "stop.$1" && wait_job_state "$1" COMPLETED
}

is_size()
{
    [ "$(job_field "$1" nodes)" = "$2" ] && [ "$(job_field "$1" resize)" = null ]
}

# resize ID N: changes the size to N and waits for the change.
resize()
{
    fluxq-ctl resize "$1" -N "$2" && wait_until 15 is_size "$1" "$2"
}

free_nodes()
{
    fluxq-info --json | jq '[.nodes[] | select(.cores_used == 0)] | length'
}

has_free()
{
    [ "$(free_nodes)" = "$1" ]
}

start_broker --config resize.yaml

test_expect_success 'a job that cannot be malleable is refused with a correct request' '
    refused() { words=$1; shift; test_must_fail fluxq-submit --malleable "$@" 2>err && grep -e "$words" err; } &&
    refused "-N MIN-MAX" -N 4 work.sh &&
    refused "-N MIN-MAX" work.sh &&
    refused "--ntasks-per-node" -N 2-4 -n 8 work.sh &&
    refused "needs a script" -N 2-4 -- true &&
    refused "--array" -N 2-4 -a 1-2 work.sh &&
    refused "at most 512" -N 2-600 work.sh &&
    refused "--stage-in" -N 2-4 --stage-in work.sh:there work.sh &&
    refused "cannot inform it" -N 2-4 --resize-signal=KILL work.sh &&
    test_must_fail fluxq-submit -N 2-4 --resize-signal=USR1 work.sh 2>err && grep "not malleable" err
'

test_expect_success 'when a job grows its steps, its file, its signal and its listing have the new nodes' '
    fluxq-submit -o /dev/null -t 5 -N 4 --exclusive -J other -- sleep 300 >other &&
    wait_job_state $(cat other) RUNNING &&
    id=$(work -N 2-4 --malleable) && echo $id >id &&
    is_size $id 4 && resize $id 2 &&
    resize $id 3 && wait_until 5 grep "^grown 3" heard.$id &&
    in_job $id 1 "fluxq-run -N 3 sh -c \"echo \\\$FLUXQ_NODENAME\"" | sort >names &&
    fluxq-show job $id --json | grep nodelist &&
    test $(sort -u names | wc -l) = 3 &&
    in_job $id 2 "fluxq-run hostname" >all && test $(wc -l <all) = 3 &&
    in_job $id 3 "fluxq-run -N1 sh -c \"echo \\\$SLURM_JOB_NUM_NODES\"" >n && test $(cat n) = 3 &&
    test $(job_field $id ncores) = 3
'

test_expect_success 'the resize file describes the nodes of the job' '
    id=$(cat id) && cat "$(cat file.$id)" >file && cat file &&
    grep "^FLUXQ_RESIZE_NNODES=3$" file && grep "^FLUXQ_RESIZE_STATE=grown$" file &&
    grep "^FLUXQ_RESIZE_GENERATION=2$" file &&
    grep -Fx "FLUXQ_RESIZE_NODELIST=$(job_field $id nodelist)" file
'

test_expect_success 'a resize stays within the job'\''s sizes, its queue and the machine' '
    id=$(cat id) &&
    test_must_fail fluxq-ctl resize $id -N 5 2>err && grep "which are 2-4" err &&
    test_must_fail fluxq-ctl resize $id -N 1 2>err && grep "which are 2-4" err &&
    test_must_fail fluxq-ctl resize $id -N 3 2>err && grep "has 3 nodes already" err &&
    test_must_fail fluxq-ctl resize $id -N x 2>err &&
    test_must_fail fluxq-ctl resize $id 2>err && grep -e "-N" err &&
    test_must_fail fluxq-ctl resize $(cat other) -N 2 2>err && grep "without --malleable" err &&
    small=$(work -q small -N 1-3 --malleable) && resize $small 1 &&
    test_must_fail fluxq-submit -q small -N 1-8 --malleable work.sh 2>err; cat err; end_job $small &&
    full=$(fluxq-submit -o /dev/null -t 5 -N 1 --exclusive -- sleep 300) && wait_job_state $full RUNNING &&
    test_must_fail fluxq-ctl resize $id -N 4 2>err && cat err && grep "keeps its 3 nodes" err &&
    is_size $id 3 && fluxq-cancel $full && wait_job_state $full CANCELLED
'

test_expect_success 'a job that shrinks gets its signal and its grace, and then its last nodes are free' '
    id=$(cat id) && : >heard.$id &&
    echo "fluxq-run -N 3 sh -c \"trap \\\"\\\" WINCH; : >there.\\\$FLUXQ_PROCID; exec sleep 60\"; echo status \$?" >cmd.$id.new &&
    mv cmd.$id.new cmd.$id.4 && wait_until 10 test -e there.2 &&
    begun=$(date +%s) &&
    fluxq-ctl resize $id -N 2 && test "$(job_field $id nodes)" = 3 &&
    test_must_fail fluxq-ctl resize $id -N 4 2>err && grep "changing its size" err &&
    wait_until 20 is_size $id 2 && took=$(($(date +%s) - begun)) && echo "took $took" && test $took -ge 2 &&
    wait_until 10 test -e out.$id.4 && cat out.$id.4 && grep "gives back nodes" out.$id.4 &&
    wait_until 5 grep "^shr[iu]nk.* 2" heard.$id && # the shell waits for the step before the trap
    in_job $id 5 "fluxq-run hostname" >all && test $(wc -l <all) = 2 &&
    test "$(grep STATE "$(cat file.$id)")" = FLUXQ_RESIZE_STATE=shrunk
'

test_expect_success 'unused nodes are released at once' '
    id=$(cat id) && resize $id 4 && begun=$(date +%s) && resize $id 2 && test $(($(date +%s) - begun)) -lt 3
'

# waits_at PATH: the socket has a connection that its listener has not accepted.
waits_at()
{
    grep -q " 02 .* $1\$" /proc/net/unix
}

test_expect_success 'a step that begins during a resize runs and ends' '
    id=$(cat id) && resize $id 4 && root=$(worker_of $id 0) &&
    dir=$(dirname "$(cat file.$id)") &&
    test_when_finished "kill -CONT $root 2>/dev/null || :" && kill -STOP $root &&
    echo "fluxq-run -N 4 true; echo status \$?" >cmd.$id.new && mv cmd.$id.new cmd.$id.6 &&
    wait_until 10 waits_at "$dir/clients-0" &&
    fluxq-ctl resize $id -N 2 && wait_until 10 waits_at ".*$id.*-0" && kill -CONT $root &&
    wait_until 15 test -e out.$id.6 && cat out.$id.6 && grep "^status 0$" out.$id.6 && wait_until 15 is_size $id 2
'

test_expect_success 'a resized job ends normally, and its record has its sizes' '
    id=$(cat id) && end_job $id &&
    fluxq-show job $id --json >shown && test "$(job_field $id nodes)" = 2 &&
    test $(count_events $id resize) = $(count_events $id resized) && test $(count_events $id resize) -ge 5 &&
    fluxq-cancel $(cat other) && wait_until 20 none_active && test $(free_nodes) = 8
'

test_expect_success 'the hook runs on the first node with the old and the new size' '
    write_script hook.sh <<-\END &&
	#!/bin/sh
	echo "hook $1 $2 $FLUXQ_RESIZE_STATE $FLUXQ_RESIZE_NODELIST on $FLUXQ_NODENAME"
	END
    id=$(FLUXQ_RESIZE_HOOK=./hook.sh fluxq-submit -o hook.out -t 5 -N 1-4 --malleable ./work.sh) &&
    wait_job_state $id RUNNING && wait_until 10 test -e ready.$id && resize $id 1 &&
    wait_until 10 grep "^hook 4 1 shrinking" hook.out && resize $id 3 &&
    wait_until 10 grep "^hook 1 3 grown" hook.out && end_job $id && cat hook.out
'

test_expect_success '--resize-signal sets another signal' '
    id=$(work -N 1-2 --malleable --resize-signal=USR1) && resize $id 1 &&
    wait_until 5 grep "^shr[iu]nk.* 1" heard.$id && end_job $id
'

test_expect_success 'a dead node that is to leave is removed, and a dead node that is to stay ends the job' '
    id=$(work -N 1-4 --malleable) &&
    echo "fluxq-run -N 4 sh -c \": >up.\\\$FLUXQ_PROCID; exec sleep 60\"; echo status \$?" >cmd.$id.new &&
    mv cmd.$id.new cmd.$id.1 && wait_until 10 test -e up.3 &&
    fluxq-ctl resize $id -N 2 &&
    kill_all $(agents_of $id 3) && wait_until 20 is_size $id 2 &&
    in_job $id 2 "fluxq-run hostname" >all && test $(wc -l <all) = 2 && end_job $id &&
    id=$(work --no-requeue -N 1-3 --malleable) && resize $id 2 &&
    echo "fluxq-run -N 2 sleep 60" >cmd.$id.1 && fluxq-ctl resize $id -N 1 &&
    kill_all $(agents_of $id 0) && wait_job_state $id NODE_FAIL && wait_until 20 none_active && test $(free_nodes) = 8
'

test_expect_success 'nodes that do not start in time are given back, and the job goes on' '
    id=$(work -N 1-4 --malleable --start-timeout=0:03) && resize $id 1 &&
    mv $shell $shell.away && printf "#!/bin/sh\nexec sleep 30\n" >$shell.new && chmod 755 $shell.new && mv $shell.new $shell &&
    fluxq-ctl resize $id -N 3 && { wait_until 20 is_size $id 1 || { fluxq-show job $id --events; false; }; } && mv $shell.away $shell &&
    in_job $id 1 "fluxq-run hostname" >all && test $(wc -l <all) = 1 &&
    wait_until 20 has_free 7 &&
    resize $id 2 && end_job $id && wait_until 20 none_active
'

test_expect_success 'an allocation grows while a shell holds it' '
    fluxq-alloc -N 1-3 --malleable -t 5 -q small sh -c "
        fluxq-ctl resize \$FLUXQ_JOB_ID -N 1 && until fluxq-run true && test \$(fluxq-run hostname | wc -l) = 1; do sleep 0.1; done
        fluxq-ctl resize \$FLUXQ_JOB_ID -N 2 && until test \$(fluxq-run hostname | wc -l) = 2; do sleep 0.1; done; echo grown" >out 2>err &&
    cat out err && grep grown out
'

test_expect_success 'no job, process or node is left behind' '
    fluxq-cancel -t PENDING,RUNNING; wait_until 20 none_active && test $(free_nodes) = 8 && stop_broker
'

test_done
