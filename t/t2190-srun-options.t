#!/bin/sh
test_description='each option of srun inside a job: the step does it, it is ignored as in Slurm, or it is refused'
. "$(dirname "$0")/lib.sh"

start_broker --local 2
PATH=$FLUXQ_BUILD_DIR/src/cmd/slurm:$PATH
GUIDE=$FLUXQ_SOURCE_DIR/doc/guide/slurm.md

# Options of Slurm 25.11 and older ones, as written on a command line. The step does them; for most of them
# other tests say what they do.
cat >step.list <<-END
	--bcast=copy --bcast-exclude=NONE --chdir=/ --compress=lz4 --cpu-bind=none --cpu_bind=none --cpus-per-task=1
	--disable-status --distribution=block --error=none --exact --exclude=node1 --exclusive --export=ALL --gpu-bind=none
	--gres=none --hint=nomultithread --immediate --input=none --job-name=x --jobid=SELF --kill-on-bad-exit=1 --label
	--mem=1 --mem-per-cpu=1G --mem-per-gpu=1M --mpi=none --no-kill --nodefile=nodes --nodelist=node0 --nodes=1
	--ntasks=1 --ntasks-per-core=1 --ntasks-per-gpu=1 --ntasks-per-node=1 --open-mode=append --output=all --overcommit
	--overlap --preserve-env --quiet --quit-on-interrupt --relative=0 --send-libs=no --slurmd-debug=info
	--tasks-per-node=1 --threads=4 --threads-per-core=1 --time=5 --treewidth=16 --tres-bind=gres/gpu:none --unbuffered
	--verbose --wait=10 --het-group=0 --pack-group=0
END
cat >ignored.list <<-END
	--account=x --bb=x --bbf=x --begin=now --cluster-constraint=x --clusters=x --comment=x --consolidate-segments
	--contiguous --core-spec=1 --deadline=now --delay-boot=1 --dependency=singleton --extra=x --gpus-per-socket=1 --hold
	--licenses=x --mail-type=ALL --mail-user=x --mcs-label=x --mincpus=1 --nice --nice=3 --ntasks-per-socket=1
	--oversubscribe --partition=x --power=x --prefer=x --priority=1 --propagate --propagate=NONE --qos=x --reboot
	--reservation=x --segment=1 --share --signal=USR1@60 --sockets-per-node=1 --spread-job --spread-segments --stepmgr
	--switches=1 --thread-spec=1 --time-min=1 --tmp=1 --use-min-nodes --wckey=x
END
cat >refused.list <<-END
	--acctg-freq=30 --constraint=x --container=/x --container-id=x --cores-per-socket=1 --cpu-freq=low --cpus-per-gpu=1
	--epilog=x --external-launcher --extra-node-info=1 --gpu-freq=low --gres-flags=x --mem-bind=local
	--msg-timeout=10 --network=x --no-allocate --ntasks-per-tres=1 --oom-kill-step --profile=task
	--prolog=x --resources=x --resv-ports --task-epilog=x --task-prolog=x --test-only --tres-per-task=gres/gpu:1
	--wait-for-children --x11
END
echo node0 >nodes
for list in step ignored refused; do tr -s ' \n' '\n\n' <$list.list >$list; done

# A line for each option of a file: the exit status of srun with it, its output, and the option.
cat >each.sh <<-\END
	#!/bin/sh
	for list in step ignored refused; do
	    while read option; do
	        case $option in *=SELF) option=${option%SELF}$SLURM_JOB_ID ;; esac
	        said=$(srun -Q "$option" -N1 -n1 echo ran 2>&1 </dev/null)
	        echo "$? ${option%=*} $said"
	    done <$list >$list.out
	done
END

test_expect_success 'each option is done, ignored or refused as the guide says' '
    id=$(sbatch --parsable -N2 each.sh) && wait_job_state "$id" "COMPLETED|FAILED" 120 && cat "slurm-$id.out" *.out &&
    grep -c . step >n && test "$(wc -l <step.out)" = "$(cat n)" &&
    test "$(grep -vc "^0 [^ ]* \(0: \)*ran$" step.out)" = 0 &&
    test "$(grep -vc "^0 [^ ]* ran$" ignored.out)" = 0 &&
    test "$(grep -vc "^2 [^ ]* srun: --.*: not supported in a step: " refused.out)" = 0
'

# list_of HEADING: the options that the guide lists in that row of its table.
list_of()
{
    sed -n "s/^| $1 | \(.*\) |\$/\1/p" "$GUIDE" | grep -o "\`--[a-z0-9_-]*\`" | tr -d "\`" | sort -u
}

test_expect_success 'the guide lists the same options' '
    for list in ignored refused; do
        sed "s/=.*//" $list | sort -u >names && list_of $list >listed && diff names listed || return 1
    done
'

test_expect_success 'srun inside a job knows each option that srun has outside' '
    fluxq-show slurm-options | grep "| [a-z, ]*srun" | grep -o "\`--[a-z0-9-]*" | tr -d "\`" | sort -u >rows &&
    cat step ignored refused | sed "s/=.*//" | sort -u >known &&
    printf "%s\n" --gpus --gpus-per-node --gpus-per-task --help --usage --version | sort - known | comm -23 rows - >rest &&
    test_must_be_empty rest
'

test_expect_success 'a value that a step cannot have is refused' '
    write_script wrong.sh <<-\END &&
	#!/bin/sh
	for option in --hint=memory_bound --threads-per-core=2 --ntasks-per-core=x --mem=much --mem-per-cpu=x --nodefile=/nonexistent \
	    --nodefile=/dev/null --send-libs=perhaps --jobid=1000; do
	    srun -n1 $option echo ran 2>&1; echo "$option $?"
	done
	echo node7 >other && srun --nodefile=other -n1 echo ran 2>&1
	printf "node1\n\n,node0 \n" >both && srun -F both -N2 sh -c "echo \$SLURMD_NODENAME" | sort
	for option in help usage version; do srun --$option >$option.out 2>&1; echo "$option $?"; done
	END
    id=$(sbatch --parsable -N2 wrong.sh) && wait_job_state "$id" "COMPLETED|FAILED" && out=slurm-$id.out && cat "$out" &&
    ! grep -x ran "$out" && test "$(grep -c "^--[^ ]* 2$" "$out")" = 9 && grep "node7" "$out" && grep -x node0 "$out" && grep -x node1 "$out" &&
    grep -x "help 0" "$out" && grep -x "usage 0" "$out" && grep -x "version 0" "$out" && grep -i usage usage.out
'

test_expect_success 'outside, an option of steps that is refused makes no job' '
    test_must_fail srun -N1 --epilog=x true 2>err && grep "epilog: not supported in a step" err &&
    test_must_fail srun -N1 --task-prolog=x true 2>err && grep "task-prolog: not supported in a step: run it in a script" err &&
    test -z "$(squeue -h -t all -n true)"
'

test_done
