#!/bin/sh
test_description='fractional CPUs (--cpus-per-task=0.5) on a machine that does not support them'
. "$(dirname "$0")/lib.sh"
. "$FLUXQ_SOURCE_DIR/t/faults.sh"

start_broker

write_script half.sh <<\END
#!/bin/sh
#SBATCH --cpus-per-task=0.5
true
END

write_script half-own.sh <<\END
#!/bin/sh
#FLUXQ -c 500m
true
END

nowhere="parts of a CPU are available only on Kubernetes; request whole ones, such as --cpus-per-task=1"

# refused COMMAND...: COMMAND fails with one line that shows a way out, and starts nothing.
refused()
{
    test_must_fail "$@" 2>err >out && grep -qF "$nowhere" err && [ "$(wc -l <err)" = 1 ] && [ ! -s out ]
}

test_expect_success 'fractional cores are refused at once, in every notation' '
    refused fluxq-submit -c 0.5 -- true && refused fluxq-submit -c 500m -- true &&
    refused fluxq-submit -N 2 -n 4 -c 1.25 -- true && refused fluxq-run -c .5 true &&
    refused fluxq-alloc -c 0.5 -- true && refused fluxq-submit half.sh && refused fluxq-submit half-own.sh &&
    refused env FLUXQ_CPUS_PER_TASK=0.5 fluxq-submit -- true && none_active
'

test_expect_success '--test-only refuses fractional cores' '
    refused fluxq-submit --test-only -c 0.5 -- true
'

test_expect_success '--dry-run still makes a jobspec with fractional cores' '
    fluxq-submit --dry-run -n 2 -c 0.5 -- true >spec && jq -e "
        .resources[0].with == [{\"type\": \"cpu_milli\", \"count\": 500}]" spec &&
    fluxq-submit --dry-run -c 2000m -- true | jq -e ".resources[0].with == [{\"type\": \"core\", \"count\": 2}]"
'

test_expect_success 'an invalid amount is refused before any request' '
    for amount in 0 0m 0.0 -1 0.0005 1.5k .; do
        test_must_fail fluxq-submit -c "$amount" -- true 2>err && grep -q "^fluxq-submit: -c: " err || return 1
    done &&
    test_must_fail fluxq-submit --gres=cpu_milli:500 -- true 2>err && grep -q "cpu_milli.* cannot be a generic resource" err
'

test_expect_success 'whole cores in the notation of fractions are cores' '
    id=$(fluxq-submit -c 1000m -o cpus.out -- sh -c "echo \$SLURM_CPUS_PER_TASK \${FLUXQ_CPU_MILLI_PER_TASK-none}") &&
    wait_job_state $id COMPLETED && echo "1 none" >expected && test_cmp expected cpus.out
'

test_done
