#!/bin/sh
test_description='sbatch: scripts, words and exit status as in Slurm'
. "$(dirname "$0")/lib.sh"

start_broker

write_script job.sh <<'END'
#!/bin/sh
#SBATCH --account=physics -q high --wckey=key
#SBATCH --comment "a comment" --job-name=textbook
#SBATCH --nodes=2 --ntasks-per-node=1 --time=10
echo "$SLURM_JOB_ID $SLURM_JOB_NAME $SLURM_JOB_ACCOUNT $SLURM_JOB_QOS $SLURM_NTASKS_PER_NODE $1"
END

# refused WORDS COMMAND...: the command fails with status 1 and these words on stderr.
refused()
{
    words=$1
    shift
    test_expect_code 1 "$@" >out 2>err && test_must_be_empty out &&
        { grep -e "$words" err || { cat err && return 1; }; }
}

test_expect_success 'sbatch prints its sentence, and the output goes to slurm-%j.out' '
    sbatch job.sh one >out && grep -x "Submitted batch job [0-9]*" out && id=$(sed "s/.* //" out) &&
    wait_job_state $id COMPLETED && grep -x "$id textbook physics high 1 one" slurm-$id.out
'

test_expect_success '--parsable prints the id alone, --quiet prints nothing' '
    id=$(sbatch --parsable job.sh) && test "$id" -gt 0 && wait_job_state $id COMPLETED &&
    sbatch -Q job.sh >out && test_must_be_empty out
'

test_expect_success 'the script also comes from standard input, /dev/stdin and a here-document' '
    id=$(sbatch --parsable <job.sh) && wait_job_state $id COMPLETED && test "$(job_field $id name)" = textbook &&
    id=$(sed "/job-name/d" job.sh | sbatch --parsable) && test "$(job_field $id name)" = sbatch &&
    id=$(sbatch --parsable /dev/stdin <job.sh) && wait_job_state $id COMPLETED &&
    sbatch >out <<END &&
#!/bin/sh
#SBATCH --output=here.out
echo here
END
    id=$(sed "s/.* //" out) && wait_job_state $id COMPLETED && grep -x here here.out
'

test_expect_success '--wrap makes the script; the name of the job is wrap' '
    id=$(sbatch --parsable --wrap "echo wrapped; exit 3") && wait_job_state $id FAILED &&
    test "$(job_field $id name)" = wrap && grep -x wrapped slurm-$id.out &&
    refused "Script arguments not permitted with --wrap" sbatch --wrap "true" job.sh
'

test_expect_success '--wait exits with the status of the job, also in the script' '
    test_expect_code 3 sbatch --wait --wrap "exit 3" &&
    printf "#!/bin/sh\n#SBATCH --wait --parsable\nexit 4\n" >wait.sh &&
    test_expect_code 4 sbatch wait.sh >out && grep -x "[0-9]*" out
'

test_expect_success 'SBATCH_ variables override the script, and options override the variables' '
    id=$(SBATCH_TIMELIMIT=20 SBATCH_JOB_NAME=env sbatch --parsable job.sh) &&
    test "$(job_field $id name)" = env && test "$(job_field $id time_limit)" = 1200 &&
    id=$(SBATCH_TIMELIMIT=20 SBATCH_NODES=7 sbatch --parsable -t 30 job.sh) && test "$(job_field $id time_limit)" = 1800 &&
    refused "SBATCH_TIMELIMIT: .x. is not a time limit" env SBATCH_TIMELIMIT=x sbatch job.sh &&
    refused "SBATCH_DELAY_BOOT: .*does not support" env SBATCH_DELAY_BOOT=1 sbatch job.sh
'

test_expect_success 'a variable SBATCH_... or SALLOC_... that no option has is a warning that names it' '
    SBATCH_TIMELIMT=20 SBATCH_DEBUG=1 SBATCH_WCKEY=k sbatch --parsable job.sh >out 2>err && test -s out &&
    grep -x "sbatch: warning: SBATCH_TIMELIMT: not used: no option of sbatch has this variable" err && test "$(wc -l <err)" = 1 &&
    SALLOC_TIMELIMT=20 SBATCH_X=1 salloc true 2>err && grep "warning: SALLOC_TIMELIMT: not used: no option of salloc" err && ! grep SBATCH err
'
test_expect_success 'a variable FLUXQ_... that is nearly the one of an option is a warning that names both' '
    FLUXQ_NTASK=2 FLUXQ_SITE_THING=1 FLUXQ_NODES=1 fluxq-submit --dry-run -- true >out 2>err &&
    grep -x "fluxq-submit: warning: FLUXQ_NTASK: not used: no option has this variable; the one of --ntasks is FLUXQ_NTASKS" err && test "$(wc -l <err)" = 1
'
test_expect_success 'FLUXQ_ variables are for fluxq-submit alone' '
    id=$(FLUXQ_JOB_NAME=other FLUXQ_TIME=5 sbatch --parsable job.sh) && test "$(job_field $id time_limit)" = 600
'

test_expect_success 'refusals have Slurm'"'"'s sentence and fluxq'"'"'s reason' '
    refused "^sbatch: error: Batch job submission failed: Invalid partition name specified (.*nope" sbatch -p nope job.sh &&
    refused "^sbatch: error: Batch job submission failed: Requested node configuration is not available" sbatch -N 100 --ntasks-per-node=1 job.sh &&
    refused "^sbatch: error: Batch job submission failed: Requested reservation is invalid" sbatch --reservation=none job.sh &&
    refused "^sbatch: error: -S: an option of Slurm that fluxq does not support" sbatch -S 1 job.sh &&
    refused "^sbatch: error: --frob: unknown option" sbatch --frob job.sh &&
    refused "^sbatch: error: nothing: No such file" sbatch nothing &&
    refused "^sbatch: error: stdin:1: .*begins with #!" sh -c "echo true | sbatch"
'

test_expect_success 'all refused directives of a script are reported at once' '
    printf "#!/bin/sh\n#SBATCH -N1\n#SBATCH --x11 --delay-boot=3\n#SBATCH --power=a\ntrue\n" >many.sh &&
    refused "many.sh:3: --x11: unknown option" sbatch many.sh && grep "many.sh:3: --delay-boot" err &&
    grep "many.sh:4: --power" err && test "$(wc -l <err)" -eq 3
'

test_expect_success '--test-only says when and where, submits nothing' '
    before=$(sbatch --parsable --hold job.sh) &&
    sbatch --test-only job.sh >out 2>err && test_must_be_empty out &&
    grep -x "sbatch: Job to start at .* using 2 processors on nodes node.* in partition batch" err &&
    test "$(sbatch --parsable --hold job.sh)" -eq $((before + 1)) && fluxq-cancel --me
'

test_expect_success 'a job whose dependency can never be met stays in the queue, as in Slurm' '
    id=$(sbatch --parsable --wrap "exit 1") && wait_job_state $id FAILED &&
    after=$(sbatch --parsable -d afterok:$id --wrap true) &&
    wait_until 10 sh -c "fluxq-queue -j $after -o %r --no-header | grep -x DependencyNeverSatisfied" &&
    fluxq-cancel $after &&
    after=$(sbatch --parsable -d afterok:$id --kill-on-invalid-dep=yes --wrap true) && wait_job_state $after CANCELLED
'

test_expect_success 'the file has standard output and standard error in the order in which the script writes them' '
    printf "%s\n" "#!/bin/sh" "for i in 1 2 3 4 5 6 7 8 9; do echo \$i; echo \$i >&2; done" "exec 2>&-" "echo end" >order.sh &&
    id=$(sbatch --parsable --wait -o order.out order.sh) && for i in 1 2 3 4 5 6 7 8 9; do printf "%s\n" $i $i; done >wanted &&
    echo end >>wanted && test_cmp wanted order.out && fluxq-logs $id >out && test_cmp wanted out &&
    test "$(squeue --states=all -h -j $id -O STDERR:200 | sed "s/ *$//")" = "$PWD/order.out" && ! fluxq-show job $id | grep ^Error: &&
    sbatch --wait -o apart.out -e apart.err order.sh && test "$(cat apart.err | xargs)" = "1 2 3 4 5 6 7 8 9"
'

test_expect_success 'an array has the files of its tasks by default' '
    id=$(sbatch --parsable --array=0-1 --wrap "echo task \$SLURM_ARRAY_TASK_ID") &&
    wait_until 20 test -s slurm-${id}_1.out && wait_until 20 test -s slurm-${id}_0.out && grep -x "task 1" slurm-${id}_1.out
'

test_expect_success 'a directory with the number of the job can be made after the submit' '
    id=$(sbatch --parsable -o "own/%j/out" -e "own/err" --wrap "echo late" 2>/dev/null) && mkdir -p own/$id &&
    test "$(job_field $id begin_time)" != null && wait_job_state $id COMPLETED && grep -x late own/$id/out &&
    id=$(sbatch --parsable -o "own/%j.out" --wrap true) && test "$(job_field $id begin_time)" = null
'

test_expect_success 'every option of the help has a row, and --version has the form that clients parse' '
    sbatch --version >out && grep "^slurm [0-9]*\.[0-9]*\.[0-9]* " out &&
    sbatch --help | grep -e "-W, --wait" && sbatch --usage | head -1 | grep "^Usage: sbatch" && sbatch -h | grep -e "--wrap"
'

test_expect_success '--clusters names the one cluster, on the command line, in the script and in SBATCH_CLUSTERS' '
    test "$(sbatch -M fluxq --wrap true)" = "Submitted batch job $(squeue --states=all -h -o %A -S -i | head -1) on cluster fluxq" &&
    sbatch --parsable --clusters=all --wrap true >out && grep -E "^[0-9]+;fluxq$" out &&
    printf "#!/bin/sh\n#SBATCH -M fluxq\n" >clusters.sh && sbatch --parsable clusters.sh >out && grep -E "^[0-9]+;fluxq$" out &&
    SBATCH_CLUSTERS=fluxq sbatch --parsable --wrap true >out && grep -E "^[0-9]+;fluxq$" out &&
    printf "#!/bin/sh\n#SBATCH -M other\n" >other.sh && test_expect_code 1 sbatch other.sh 2>err &&
    grep "^sbatch: error: .other. can.t be reached now.*there is one cluster, fluxq$" err &&
    sbatch --parsable -M fluxq other.sh && test_expect_code 2 fluxq-submit other.sh 2>err && grep "one cluster, fluxq" err
'

test_expect_success '--nodefile reads the names of nodes from a file' '
    printf "node1, node3\nnode3\n" >nodes && id=$(sbatch --parsable -F nodes -o /dev/null --wrap true) && wait_job_state $id COMPLETED &&
    test "$(squeue --states=all -h -j $id -o %N)" = "node[1,3]" && printf "node[0-3]\n" >nodes && printf "#!/bin/sh\n#SBATCH -F nodes -N1\n" >file.sh &&
    id=$(fluxq-submit -o /dev/null file.sh) && wait_job_state $id COMPLETED &&
    refused "^sbatch: error: -F: nothing: No such file" sbatch -F nothing job.sh && printf " \n" >blank && refused "^sbatch: error: -F: blank has no names of nodes" sbatch -F blank job.sh &&
    printf "a[1\n" >wrong && refused "^sbatch: error: -F: " sbatch -F wrong job.sh
'

test_expect_success 'steps of srun do --distribution; --hint and --threads-per-core say what holds for every job' '
    printf "%s\n" "#!/bin/sh" "#SBATCH -N2 -n4 -m cyclic --hint=nomultithread --threads-per-core=1 -o spread.out" \
        "srun sh -c \"echo \\\$SLURM_PROCID \\\$SLURM_NODEID\" | sort" >spread.sh &&
    id=$(sbatch --parsable spread.sh) && wait_job_state $id COMPLETED && printf "%s\n" "0 0" "1 1" "2 0" "3 1" >expected && test_cmp expected spread.out &&
    id=$(sbatch --parsable -m block spread.sh) && wait_job_state $id COMPLETED && printf "%s\n" "0 0" "1 0" "2 1" "3 1" >expected && test_cmp expected spread.out &&
    fluxq-submit --explain spread.sh >out && grep "spread.sh:2: -m: done: the steps of srun do so" out && grep "hint.*: done: a task has whole cores" out &&
    test_expect_code 1 sbatch -m plane --wrap true 2>err && cat err && grep "^sbatch: error: -m: .*plane needs a size" err &&
    test_expect_code 1 sbatch --hint=memory_bound --wrap true 2>err && grep "the values are compute_bound|multithread|nomultithread" err &&
    test_expect_code 1 sbatch --threads-per-core=2 --wrap true 2>err && grep "threads-per-core: .2. is not supported" err
'

test_expect_success 'an empty value of an option that names something is as no option, as in Slurm' '
    printf "%s\n" "#!/bin/sh" "#SBATCH --account=" "#SBATCH --comment=\"\" --dependency= -C \"\"" >blank.sh &&
    id=$(sbatch --parsable -q "" -d "" -x "" -L "" -J "" -o "" -D "" --mail-user= --wckey= -a "" blank.sh) && wait_job_state $id COMPLETED &&
    test "$(squeue --states=all -h -j $id -o "%j %a %q %k %E")" = "blank.sh (null) (null) (null) (null)" && test -e slurm-$id.out &&
    id=$(SBATCH_ACCOUNT= SBATCH_QOS= sbatch --parsable -o /dev/null --wrap true) && wait_job_state $id COMPLETED &&
    fluxq-submit --explain blank.sh >out && grep "^blank.sh:2: --account: not used: the value is empty$" out &&
    for o in --time= --mem= --nodes= --ntasks= --gres=; do refused "^sbatch: error: ${o%=}: " sbatch $o job.sh || return 1; done
'

test_expect_success 'an empty variable of an option that needs a value is refused' '
    for v in DISTRIBUTION HINT GPU_BIND TRES_BIND THREADS_PER_CORE WAIT_ALL_NODES TIMELIMIT OPEN_MODE; do
        refused "^sbatch: error: SBATCH_$v: " env SBATCH_$v= sbatch job.sh || return 1
    done &&
    test_expect_code 1 env SALLOC_HINT= salloc true 2>err && grep "SALLOC_HINT: " err
'

test_done
