#!/bin/sh
test_description='licenses of the site: counted, waited for without starving, held from start to end, also after a crash'
. "$(dirname "$0")/lib.sh"
PATH=$FLUXQ_BUILD_DIR/src/cmd/slurm:$PATH
. "$FLUXQ_SOURCE_DIR/t/faults.sh"

config=$FLUXQ_RUN/fluxq.yaml

configure()
{
    printf 'local: {nodes: 4, cores: 4}\nlicenses: %s\n' "$1" >"$config"
}

configure '{matlab: 3, ansys@server: 1, none: 0}'
start_broker --config "$config"

# A job that runs until the file stop.ID exists.
write_script until.sh <<\END
#!/bin/sh
until [ -e "stop.$FLUXQ_JOB_ID" ]; do sleep 0.02; done
END

submit()
{
    fluxq-submit -o /dev/null "$@" ./until.sh
}

end_job()
{
    for job; do
        touch "stop.$job" && wait_job_state "$job" COMPLETED || return
    done
}

fresh()
{
    none_active || fluxq-cancel -t PENDING,RUNNING
    wait_until 20 none_active
}

# used NAME N: so many licenses of the name are in use.
used()
{
    fluxq-info --licenses --json | jq -e --arg name "$1" --argjson n "$2" \
        '.licenses[] | select(.name == $name) | .used == $n and .free == .total - $n'
}

# waits JOB: the scheduler has tried the job, and it lacks licenses.
waits()
{
    test "$(job_field "$1" reason)" = Licenses
}

test_expect_success 'a job without its licenses waits with the reason, others pass it, and it starts when they are free' '
    a=$(submit -L matlab:2) && wait_job_state $a RUNNING && used matlab 2 &&
    b=$(submit --licenses=matlab:2) && wait_until 20 waits $b &&
    c=$(submit -L matlab) && d=$(submit -L ansys@server) && e=$(submit) &&
    wait_job_state $d RUNNING && wait_job_state $e RUNNING && wait_until 20 waits $c &&
    fluxq-submit --test-only -L matlab:2 -- true >test 2>&1; grep "needs 2 of license matlab: 1 of 3 free" test && fluxq-submit --test-only -L matlab -- true >test 2>&1 && ! grep license test &&
    fluxq-show job $b >show && grep "needs 2 of license matlab: 1 of 3 free" show && grep "^Licenses: *matlab:2" show &&
    end_job $a && wait_job_state $b RUNNING && wait_job_state $c RUNNING && used matlab 3 &&
    end_job $b $c $d $e && wait_until 20 used matlab 0 && used ansys@server 0
'
test_expect_success 'a job that needs many licenses is not starved by those that need one' '
    fresh && a=$(submit -L matlab) && b=$(submit -L matlab) && wait_job_state $b RUNNING &&
    all=$(submit -L matlab:3) && wait_until 20 waits $all &&
    for i in 1 2 3; do small="$small $(submit -L matlab)" || return 1; done &&
    for job in $small; do wait_until 20 waits $job || return 1; done && used matlab 2 &&
    end_job $a && wait_until 20 used matlab 1 && waits $all && end_job $b && wait_job_state $all RUNNING &&
    fluxq-show job ${small##* } | grep "0 of 3 free" && end_job $all &&
    for job in $small; do end_job $job || return 1; done
'
test_expect_success 'licenses of a job with a reservation are kept for it, but a job that ends before may use them' '
    fresh && a=$(submit -N4 --exclusive -t 60) && wait_job_state $a RUNNING && fluxq-cancel $a && wait_until 20 none_active &&
    a=$(submit -N3 --exclusive -t 30) && wait_job_state $a RUNNING &&
    planned=$(submit -N4 --exclusive -t 30 -L matlab:3) && long=$(submit -t 60 -L matlab) && short=$(submit -t 10 -L matlab) &&
    wait_job_state $short RUNNING && wait_until 20 waits $long &&
    fluxq-show job $long | grep "kept for jobs ahead" && test $(job_field $planned reason) = Resources &&
    end_job $short $a && wait_job_state $planned RUNNING && end_job $planned $long
'
test_expect_success 'each task of an array and an elastic job take their licenses; a requeued job gives them back' '
    fresh && array=$(submit -L matlab --array 0-3) && wait_until 20 used matlab 3 && test "$(squeue -h -t R -o %W | sort -u)" = matlab &&
    fluxq-cancel $array && wait_until 20 used matlab 0 &&
    a=$(submit -N1-4 -L matlab:2) && wait_job_state $a RUNNING && used matlab 2 && fluxq-cancel $a && wait_until 20 used matlab 0 &&
    a=$(submit -L matlab:3) && wait_job_state $a RUNNING && scontrol requeuehold $a && wait_until 20 used matlab 0 &&
    b=$(submit -L matlab) && wait_job_state $b RUNNING && scontrol release $a && wait_until 20 waits $a && end_job $b &&
    wait_job_state $a RUNNING && end_job $a
'
test_expect_success 'after kill -9 running jobs hold what they held, and waiting ones get it next' '
    fresh && a=$(submit -L matlab:2) && wait_job_state $a RUNNING && b=$(submit -L matlab:2) && array=$(submit -L ansys@server --array 1-2) &&
    wait_until 20 used ansys@server 1 && wait_until 20 waits $b && kill_broker &&
    start_broker --config "$config" && wait_until 20 used matlab 2 && used ansys@server 1 && wait_until 20 waits $b &&
    end_job $a && wait_job_state $b RUNNING && used matlab 2 && fluxq-cancel $array && end_job $b &&
    wait_until 20 used matlab 0 && wait_until 20 used ansys@server 0
'
test_expect_success 'an unknown license, too many, and a choice of licenses are refused at submit' '
    fresh && test_must_fail sbatch -L nosuch --wrap true 2>err &&
    grep "^sbatch: error: Batch job submission failed: Invalid license specification (.*no license nosuch" err &&
    test_must_fail sbatch --licenses=matlab:4 --wrap true 2>err && grep "Invalid license specification (.*4 of matlab.*has 3" err &&
    test_must_fail sbatch --licenses=matlab:2,matlab:2 --wrap true 2>err && grep "4 of matlab" err &&
    test_must_fail sbatch --licenses=none --wrap true 2>err && grep "this site has 0" err &&
    test_must_fail sbatch -L "matlab|ansys@server" --wrap true 2>err && grep "cannot be asked for" err &&
    for bad in "" "a b" "mat:x" "mat:-1" ":" "mat:99999999999" "$(printf "a\nb")"; do
        test_must_fail submit -L "$bad" 2>err && test -s err || return 1
    done
'
test_expect_success 'directives, srun and salloc know --licenses, and the job finds it in its environment' '
    fresh && printf "#!/bin/sh\n#SBATCH --licenses=matlab:2\n#SBATCH -o out.lic\nsrun -L matlab:9 --mail-type=END --mail-user=ann sh -c \"echo \\\\\$SLURM_JOB_LICENSES \\\\\$FLUXQ_LICENSES\"\n" >lic.sh &&
    sbatch --wait lic.sh && grep "^matlab:2 matlab:2$" out.lic &&
    srun -L matlab sh -c "echo \$SLURM_JOB_LICENSES" >out && grep "^matlab$" out &&
    salloc -L matlab:3 sh -c "scontrol show licenses matlab" >out && grep "Used=3" out
'
test_expect_success 'scontrol, squeue and sacct show licenses in the shape of Slurm' '
    fresh && a=$(submit -L "matlab=2;ansys@server") && wait_job_state $a RUNNING && b=$(submit -L matlab:3) &&
    scontrol show lic >out && printf "%s\n" "LicenseName=ansys@server" "    Total=1 Used=1 Free=0 Reserved=0 Remote=no" \
        "LicenseName=matlab" "    Total=3 Used=2 Free=1 Reserved=0 Remote=no" \
        "LicenseName=none" "    Total=0 Used=0 Free=0 Reserved=0 Remote=no" >want && diff want out &&
    scontrol -o show license matlab >out && grep -x "LicenseName=matlab Total=3 Used=2 Free=1 Reserved=0 Remote=no" out &&
    scontrol show licenses --json | jq -e ".licenses[1] | .LicenseName == \"matlab\" and .Total == 3 and .Used == 2 and .Free == 1 and .Remote == false" &&
    wait_until 20 waits $b && test "$(squeue -h -j $b -o %r)" = Licenses && test "$(squeue -h -j $a -o %W)" = "matlab=2;ansys@server" &&
    test "$(squeue -h -j $b -O licenses:20,licensesalloc:20 | tr -s " ")" = "matlab:3 (null) " &&
    test "$(squeue -h -L matlab -o %i | wc -l)" = 2 && test "$(squeue -h -L ansys@server -o %i)" = $a &&
    scontrol show job $b | grep "JobState=PENDING Reason=Licenses" && scontrol show job $b | grep "Licenses=matlab:3 LicensesAlloc=(null)" &&
    scontrol show job $a | grep "AllocTRES=cpu=1,.*license/ansys@server=1,license/matlab=2" &&
    squeue --json | jq -e ".jobs[] | select(.job_id == $b) | .licenses == \"matlab:3\" and .licenses_allocated == \"\"" &&
    end_job $a && end_job $b && ended() { test "$(sacct -X -n -P -j $b -o licenses,state)" = "matlab:3|COMPLETED"; } && wait_until 20 ended &&
    sacct -X -n -P -j $b -o alloctres | grep "license/matlab=3"
'
test_expect_success 'a reload changes the totals: jobs wait while fewer are there, and start when there are more' '
    fresh && a=$(submit -L matlab:3) && wait_job_state $a RUNNING && configure "{matlab: 1}" && fluxq-ctl reload && used() {
        scontrol -o show lic | grep -x "LicenseName=$1 Total=$3 Used=$2 Free=$4 Reserved=0 Remote=no"; } &&
    used matlab 3 1 0 && b=$(submit -L matlab) && wait_until 20 waits $b && end_job $a && wait_job_state $b RUNNING &&
    c=$(submit -L matlab) && wait_until 20 waits $c && configure "{matlab: 2}" && fluxq-ctl reload && wait_job_state $c RUNNING &&
    end_job $b $c
'
test_expect_success 'a configuration with bad licenses is refused with the place' '
    for bad in "[a]" "{a: -1}" "{a: x}" "{\"a b\": 1}" "{a: 1.5}" "3"; do
        configure "$bad" && test_must_fail fluxqd --check --config "$config" 2>err && grep "fluxq.yaml:2:.*licenses" err || return 1
    done
'
test_done
