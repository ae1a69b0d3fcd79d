#!/bin/sh
test_description='srun --bcast copies the program to the nodes of the step and runs the copies'
. "$(dirname "$0")/lib.sh"

start_broker --local 3
PATH=$FLUXQ_BUILD_DIR/src/cmd/slurm:$PATH
mkdir bin other
printf '#!/bin/sh\necho "$SLURM_PROCID $0 $*"\n' >bin/prog && chmod 750 bin/prog && touch -d 2001-02-03T04:05:06 bin/prog
write_script fails <<-END
	#!/bin/sh
	exit \$((SLURM_PROCID + 3))
END

# in_job OPTION...: runs the commands on stdin as a job; $out has their output.
in_job()
{
    { echo '#!/bin/sh'; cat; } >job.sh
    id=$(sbatch --parsable "$@" job.sh) && wait_job_state "$id" 'COMPLETED|FAILED' && out=slurm-$id.out && cat "$out"
}

test_expect_success 'each node runs its own copy, with the name that Slurm gives it' '
    in_job -N3 <<-\END &&
	srun -D other --bcast "$PWD/bin/prog" one "two  three" | sort
	PATH=$PWD/bin:$PATH
	srun -N1 -w node1 --bcast=other/ prog
	END
    n=0 && for node in node0 node1 node2; do
        echo "$n $PWD/other/slurm_bcast_$id.0_$node one two  three" && n=$((n + 1)) &&
        cmp bin/prog "other/slurm_bcast_$id.0_$node" || return 1
    done >expected && echo "0 $PWD/other/slurm_bcast_$id.2_node1 " >>expected && test_cmp expected "$out" &&
    test "$(ls other | wc -l)" = 4 && test "$(stat -c %a "other/slurm_bcast_$id.0_node2")" = 750 &&
    test "$(date -r "other/slurm_bcast_$id.0_node2" +%Y)" = 2001
'

test_expect_success 'DEST is the path of the copy; an older file there is replaced' '
    echo old >copy && in_job -N2 <<-\END &&
	srun --bcast="$PWD/copy" bin/prog | sort
	SLURM_BCAST=copy2 srun -n1 bin/prog
	srun -n1 --bcast --compress=lz4 --send-libs=no --bcast-exclude=NONE ./bin/prog | sed "s/_bcast.*/_bcast/"
	END
    printf "%s\n" "0 $PWD/copy " "1 $PWD/copy " "0 $PWD/copy2 " "0 $PWD/slurm_bcast" | diff - "$out" && cmp copy bin/prog && cmp copy2 bin/prog
'

test_expect_success 'the step has its own name, input, labels and exit status' '
    in_job -N2 <<-\END &&
	echo input | srun --bcast -l cat | sort
	srun -n2 --bcast=copy3 ./fails 2>/dev/null; echo "status $?"
	END
    printf "%s\n" "0: input" "1: input" "status 4" | diff - "$out" &&
    sacct -n -P -o jobid,jobname -j "$id" >steps && grep -x "$id.1|cat" steps && grep -x "$id.3|fails" steps
'

test_expect_success 'a program that is not there, or cannot be copied, starts no step' '
    in_job -N2 <<-\END &&
	srun --bcast nosuchprogram 2>&1; echo "status $?"
	srun --bcast="$PWD/nowhere/copy" bin/prog 2>&1; echo "status $?"
	srun --bcast --multi-prog job.sh 2>&1; echo "status $?"
	srun --bcast --send-libs bin/prog 2>&1; echo "status $?"
	SLURM_SEND_LIBS=yes srun --bcast bin/prog 2>&1; echo "status $?"
	END
    test "$(grep -c "^status 2" "$out")" = 4 && test "$(grep -c "^status 1" "$out")" = 1 && ! grep "^[01] " "$out" &&
    grep "bcast: nosuchprogram: not a program here" "$out" && grep "cannot write $PWD/nowhere/copy" "$out" &&
    grep "the step does not start" "$out" && grep "send-libs.*use an image that has them" "$out"
'

test_expect_success 'outside a job: a job of its own, a job by number, and a shell of salloc' '
    cd other && PATH=$PWD/../bin:$PATH && srun -N2 --bcast=../out1 prog | sort >../got && cd .. &&
    printf "%s\n" "0 $PWD/other/../out1 " "1 $PWD/other/../out1 " | diff - got && cmp bin/prog out1 &&
    id=$(sbatch --parsable -N2 --wrap "sleep 1000") && wait_job_state "$id" RUNNING &&
    srun --jobid="$id" --bcast="$PWD/out2" bin/prog x | sort >got && scancel "$id" &&
    printf "%s\n" "0 $PWD/out2 x" "1 $PWD/out2 x" | diff - got &&
    salloc -Q -N1 srun --bcast="$PWD/out3" bin/prog >got && echo "0 $PWD/out3 " | diff - got &&
    test_must_fail srun -N1 --bcast=/nonexistent/out bin/prog 2>err && grep "the step does not start" err &&
    wait_until 20 sh -c "test -z \"\$(squeue -h)\""
'

test_done
