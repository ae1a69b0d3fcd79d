#!/bin/sh
test_description='texts of a job that are only shown: --extra, --mcs-label, AdminComment; scontrol update changes them'
. "$(dirname "$0")/lib.sh"

# The user nobody must be able to run the commands; the build may be elsewhere.
chmod 755 "$FLUXQ_RUN"
BROKER_STATE=$FLUXQ_RUN/state
mkdir -p "$FLUXQ_RUN/bin" "$FLUXQ_RUN/shell"
cp "$FLUXQ_BUILD_DIR/src/cmd/fluxq" "$FLUXQ_BUILD_DIR/src/broker/fluxqd" "$FLUXQ_RUN/bin"
cp "$FLUXQ_BUILD_DIR/src/shell/fluxq-shell" "$FLUXQ_RUN/shell"
for name in sbatch scontrol; do ln -s fluxq "$FLUXQ_RUN/bin/$name"; done
PATH=$FLUXQ_BUILD_DIR/src/cmd/slurm:$PATH
write_script "$FLUXQ_RUN/until.sh" <<END
#!/bin/sh
until [ -e $FLUXQ_RUN/stop ]; do sleep 0.02; done
END

# as_nobody COMMAND...: runs a command of Slurm as the user nobody.
as_nobody()
{
    (cd / && HOME=/nowhere PATH=$FLUXQ_RUN/bin:$PATH exec setpriv --reuid=nobody \
        --regid="$(id -g nobody)" --init-groups "$@")
}

# has_lines LINE...: scontrol show job $id has these lines.
has_lines()
{
    scontrol show job "$id" >shown
    for line; do grep -qx "   $line" shown || { cat shown && return 1; }; done
}

start_broker --local 2

test_expect_success 'the options store the texts; every listing has them, and the job its variable' '
    write_script "$PWD/job.sh" <<-\END &&
	#!/bin/sh
	#SBATCH --extra="rack 7" --mcs-label=secret
	echo "$SLURM_JOB_EXTRA $FLUXQ_EXTRA"
	END
    id=$(sbatch --parsable -o out.txt job.sh) && wait_job_state $id COMPLETED && grep -qx "rack 7 rack 7" out.txt &&
    has_lines "UserId=.* MCS_label=secret" &&
    squeue -t all -h -j $id -O MCSLabel,admin_comment >out && grep -qx "secret *(null) *" out &&
    sacct -X -n -P -j $id -o Extra,McsLabel,AdminComment >out && test "$(cat out)" = "rack 7|secret|" &&
    sacct --json -j $id | jq -e ".jobs[0] | .extra == \"rack 7\" and .mcs.label == \"secret\" and .comment.administrator == \"\"" &&
    squeue --json -t all | jq -e ".jobs[] | select(.job_id == $id) | .extra == \"rack 7\" and .mcs_label == \"secret\"" &&
    fluxq-show job $id >out && grep "Extra: *rack 7" out && grep "MCS label: *secret" out &&
    srun --extra=a --mcs-label=b true && id=$(sbatch --parsable --extra= --wrap true) && wait_job_state $id COMPLETED &&
    ! fluxq-show job $id | grep Extra
'
test_expect_success 'scontrol update changes the texts of a job that runs; they outlive a kill -9' '
    rm -f "$FLUXQ_RUN/stop" && id=$(sbatch --parsable -o /dev/null --comment=old --wckey=k "$FLUXQ_RUN/until.sh") && wait_job_state $id RUNNING &&
    scontrol update JobId=$id Comment="new one" AdminComment=seen WCKey=w Extra=e MCSLabel=m &&
    kill_broker && start_broker --local 2 &&
    has_lines "Comment=new one" "AdminComment=seen" ".* MCS_label=m" &&
    squeue -h -j $id -o "%k %w" >out && test "$(cat out)" = "new one w" &&
    squeue --json | jq -e ".jobs[0] | .admin_comment == \"seen\" and .extra == \"e\"" &&
    scontrol update JobId=$id Comment= && scontrol show job $id >out && ! grep -q " Comment=" out &&
    touch "$FLUXQ_RUN/stop" && wait_job_state $id COMPLETED &&
    sacct -X -n -P -j $id -o Comment,AdminComment,WCKey,Extra,McsLabel >out && test "$(cat out)" = "|seen|w|e|m" &&
    test_must_fail scontrol update JobId=$id Comment=late 2>err
'
test_expect_success 'the update of an array reaches tasks that run and tasks that wait' '
    rm -f "$FLUXQ_RUN/stop" && id=$(sbatch --parsable -o /dev/null --array=1-2%1 "$FLUXQ_RUN/until.sh") && wait_job_state ${id}_1 RUNNING &&
    scontrol update JobId=$id AdminComment=all Comment=c &&
    test_must_fail scontrol update JobId=${id}_2 Comment=one 2>err &&
    touch "$FLUXQ_RUN/stop" && wait_job_state ${id}_2 COMPLETED &&
    sacct -X -n -P -j $id -o AdminComment,Comment >out && printf "all|c\nall|c\n" >wanted && test_cmp wanted out
'
test_expect_success 'bad texts are refused, and change nothing' '
    rm -f "$FLUXQ_RUN/stop" && id=$(sbatch --parsable -o /dev/null --comment=kept "$FLUXQ_RUN/until.sh") &&
    test_must_fail scontrol update JobId=$id Comment="$(printf "a\tb")" 2>err &&
    test_must_fail scontrol update JobId=$id Extra="$(printf %1025d 0)" 2>err &&
    test_must_fail scontrol update JobId=$id Comment+=x 2>err && grep "cannot be added" err &&
    has_lines "Comment=kept" && scancel $id
'
if [ "$(id -u)" = 0 ] && command -v setpriv >/dev/null; then
test_expect_success 'users change the texts of their own jobs, operators also the admin comment' '
    id=$(as_nobody sbatch --parsable -o /dev/null --hold --wrap true) &&
    as_nobody scontrol update JobId=$id Comment=mine &&
    test_must_fail as_nobody scontrol update JobId=$id AdminComment=mine Extra=e 2>err && grep "^Access/permission denied (admin_comment: only operators may set it) for job $id" err &&
    has_lines "Comment=mine" && ! grep -q AdminComment shown && ! fluxq-show job $id | grep -q Extra: &&
    scontrol update JobId=$id AdminComment=ours && has_lines "AdminComment=ours" &&
    own=$(sbatch --parsable -o /dev/null --hold --wrap true) && test_must_fail as_nobody scontrol update JobId=$own Comment=theirs 2>err &&
    test_must_fail as_nobody "$FLUXQ_RUN/bin/fluxq" submit --admin-comment=x -- true 2>err && grep "only operators" err &&
    id=$(fluxq-submit --admin-comment="by root" -- true) && has_lines "AdminComment=by root"
'
fi
test_done
