#!/bin/sh
test_description='real MPI programs find each other over the PMI of fluxq-shell

pmi-launch acts as the agents of some ranks in one process. The test compiles the programs: with
MPICH they use PMI-1, with the libpmi2 of Slurm PMI-2.'
. "$(dirname "$0")/lib.sh"

PATH=$FLUXQ_BUILD_DIR/t/helper:$PATH
MPICC=mpicc.mpich
PROGRAMS=$FLUXQ_SOURCE_DIR/t/mpi

if command -v $MPICC >/dev/null; then
    test_set_prereq MPICH
else
    echo "# no $MPICC: apt-get install libmpich-dev for the cases with MPICH"
fi
if [ -f /usr/include/slurm/pmi2.h ]; then
    test_set_prereq PMI2
else
    echo "# no slurm/pmi2.h: apt-get install libpmi2-0-dev for the cases with PMI-2"
fi

# launch OPTIONS PROGRAM [ARGS]: runs PROGRAM and prints its output, which is also in the
# files out and err.
launch()
{
    pmi-launch -t 120 "$@" >out 2>err || {
        status=$?
        cat out err
        return $status
    }
    cat out err
}

test_expect_success MPICH 'the MPI programs compile' '
    $MPICC -o allreduce "$PROGRAMS/allreduce.c" &&
    $MPICC -o ring "$PROGRAMS/ring.c" &&
    $MPICC -o refused "$PROGRAMS/refused.c"
'

test_expect_success PMI2 'the PMI-2 client compiles' '
    cc -w -o pmi2 "$PROGRAMS/pmi2.c" -lpmi2
'

for ranks in 1 2 4; do
    for tasks in 4 8; do
        each=$((tasks / ranks))
        test_expect_success MPICH "MPICH adds over $tasks tasks on $ranks ranks, and knows its nodes" '
            launch -r $ranks -n $tasks ./allreduce $tasks $each &&
            grep "^allreduce: $tasks tasks agree" out && ! grep "^pmi-launch: 0 fences" out
        '
        test_expect_success MPICH "a message goes around $tasks tasks on $ranks ranks" '
            launch -r $ranks -n $tasks ./ring $tasks &&
            grep "^ring: came round through $tasks tasks" out
        '
        test_expect_success PMI2 "with PMI-2 $tasks tasks on $ranks ranks get all values that the tasks put" '
            launch -r $ranks -n $tasks ./pmi2 $tasks "(vector,(0,$ranks,$each))" &&
            grep "^pmi2: $tasks tasks agree" out && grep "^pmi-launch: 5 fences" out
        '
    done
done

test_expect_success MPICH 'MPICH knows its nodes if tasks are distributed cyclically' '
    launch -r 4 -c -n 8 ./allreduce 8 2 &&
    grep "^allreduce: 8 tasks agree" out
'

test_expect_success PMI2 'PMI-2 knows the nodes if tasks are distributed cyclically' '
    launch -r 2 -c -n 4 ./pmi2 4 "(vector,(0,2,1),(0,2,1))"
'

test_expect_success MPICH 'one rank may have more tasks than the other' '
    cat >uneven <<-\END &&
	#!/bin/sh
	case $PMI_RANK in 0 | 1 | 2) on_node=3 ;; *) on_node=2 ;; esac
	exec ./allreduce 5 $on_node
	END
    chmod +x uneven &&
    launch -r 2 -n 5 ./uneven
'

test_expect_success MPICH 'name service and spawning fail, and the tasks go on' '
    launch -r 2 -n 2 ./refused && grep "^refused: 2 tasks go on" out
'

test_expect_success MPICH 'MPI_Abort ends the step with the given status' '
    test_expect_code 7 launch -r 2 -n 4 ./ring 4 abort &&
    grep "^pmi-launch: task 3 aborts the step: status 7" err
'

test_expect_success MPICH 'a task that exits without finalize is detected, also with status 0' '
    test_expect_code 1 launch -r 2 -n 4 ./ring 4 vanish &&
    grep "^pmi-launch: task 3 ended without finalize" err
'

test_expect_success PMI2 'an abort over PMI-2 ends the step with the given text' '
    test_expect_code 1 launch -r 2 -n 4 ./pmi2 4 "(vector,(0,2,2))" abort &&
    grep "^pmi-launch: task 3 aborts the step: status 1 enough; really" err
'

test_expect_success 'a step without PMI runs normally' '
    launch -r 2 -n 4 echo hello && test "$(grep -c hello out)" = 4 &&
    grep "^pmi-launch: 0 fences" out
'

test_done
