#!/bin/sh
test_description='accounts and QOS: names that the configuration does not list are refused in the words of Slurm'
. "$(dirname "$0")/lib.sh"
PATH=$FLUXQ_BUILD_DIR/src/cmd/slurm:$PATH

config=$FLUXQ_RUN/fluxq.yaml

configure()
{
    printf '%s\n' 'local: {nodes: 2}' "$@" >"$config"
}

# refused SENTENCE OPTION...: sbatch with the options fails, and says this.
refused()
{
    sentence=$1
    shift
    test_must_fail sbatch "$@" --wrap true 2>err && grep "^sbatch: error: Batch job submission failed: $sentence" err
}

configure 'accounts: [physics, chemistry]' 'qos: [normal]'
start_broker --config "$config"

test_expect_success 'an account or a QOS that does not exist is refused, with those that do' '
    refused "Invalid account or account/partition combination specified (account .biology. does not exist; there is physics, chemistry)" -A biology &&
    refused "Invalid qos specification (qos .high. does not exist; there is normal)" -q high &&
    refused "Invalid account" --account=phys && refused "Invalid account" -A physicsx -q normal &&
    printf "#!/bin/sh\n#SBATCH --account=biology\n" >job.sh && test_must_fail sbatch job.sh 2>err && grep "Invalid account" err &&
    test_must_fail fluxq-submit --qos high -- true 2>err && grep "qos .high. does not exist" err && test_must_fail srun -A biology true 2>err && grep "Invalid account" err
'
test_expect_success 'those that exist, in any case, and jobs that name none are accepted and shown' '
    id=$(sbatch --parsable -o /dev/null -A PHYSICS -q normal --wrap true) && wait_job_state $id COMPLETED && test "$(sacct -X -n -P -j $id -o account,qos)" = "PHYSICS|normal" &&
    sbatch -o /dev/null --wrap true
'
test_expect_success 'a reload changes the lists; without them any name is accepted, and an empty list has none' '
    configure "accounts: [biology]" && fluxq-ctl reload && sbatch -o /dev/null -A biology -q any --wrap true && refused "Invalid account" -A physics &&
    configure && fluxq-ctl reload && sbatch -o /dev/null -A anything -q whatever --wrap true &&
    configure "accounts: []" && fluxq-ctl reload && refused "Invalid account.*there is none" -A biology
'
test_expect_success 'bad lists are refused' '
    for bad in "accounts: physics" "qos: {a: 1}" "accounts: [\"a b\"]" "qos: [\"\"]"; do
        configure "$bad" && test_must_fail fluxqd --check --config "$config" 2>err && grep "${bad%%:*}" err || return 1
    done
'
test_done
