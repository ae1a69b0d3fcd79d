#!/bin/sh
test_description='MPI programs of Debian: MPICH started by fluxq-run, Open MPI by its mpirun'
. "$(dirname "$0")/lib.sh"

PROGRAMS=$FLUXQ_SOURCE_DIR/t/mpi
# By default, root may not use mpirun.
OMPI_ALLOW_RUN_AS_ROOT=1
OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
export OMPI_ALLOW_RUN_AS_ROOT OMPI_ALLOW_RUN_AS_ROOT_CONFIRM

for kind in mpich openmpi; do
    if command -v mpicc.$kind >/dev/null; then
        test_set_prereq "$(echo $kind | tr a-z A-Z)"
    else
        echo "# no mpicc.$kind: apt-get install the packages in contrib/packages"
    fi
done

# run_job NAME SUBMIT-ARGUMENTS: runs NAME.sh as a job of four nodes to its end, with its output in
# NAME.out.
run_job()
{
    id=$(fluxq-submit -N 4 -n 4 -o "$1.out" "./$1.sh") &&
        wait_job_state "$id" 'COMPLETED|FAILED' 120 && cat "$1.out" &&
        job_state "$id" >ended && echo COMPLETED >wanted && test_cmp wanted ended
}

start_broker --local 4

test_expect_success MPICH 'the MPI programs compile with MPICH' '
    mpicc.mpich -o allreduce "$PROGRAMS/allreduce.c" && mpicc.mpich -o ring "$PROGRAMS/ring.c" &&
    mpicc.mpich -o killed "$PROGRAMS/killed.c"
'
test_expect_success MPICH 'an all-reduce and a ring run over four ranks, and with eight tasks on one rank' '
    write_script mpich.sh <<-\END &&
	#!/bin/sh
	exec 2>&1
	fluxq-run ./allreduce 4 1 || exit
	fluxq-run ./ring 4 || exit
	fluxq-run -N 1 -n 8 -O ./allreduce 8 8 || exit
	fluxq-run -N 2 -n 8 -O -m cyclic ./ring 8
	END
    run_job mpich && printf "%s\n" "allreduce: 4 tasks agree" "ring: came round through 4 tasks" \
        "allreduce: 8 tasks agree" "ring: came round through 8 tasks" >expected &&
    test_cmp expected mpich.out
'
test_expect_success MPICH 'a task that ends before MPI_Init or before MPI_Finalize ends the step' '
    write_script early.sh <<-\END &&
	#!/bin/sh
	exec 2>&1
	fluxq-run sh -c "test \$FLUXQ_PROCID != 1 || exit 5; exec ./ring 4"
	echo "status $?"
	fluxq-run ./killed
	echo "status $?"
	END
    run_job early && grep "a task has ended without MPI_Init" early.out &&
    grep "task 1 ended before MPI_Finalize (killed by signal 9 (Killed))" early.out &&
    ! grep "status 0" early.out && grep -c "^status" early.out >got && echo 2 >expected &&
    test_cmp expected got
'
test_expect_success MPICH 'with --mpi=none there is no PMI, and an unknown value is refused' '
    write_script none.sh <<-\END &&
	#!/bin/sh
	exec 2>&1
	fluxq-run --mpi=none sh -c "echo \${PMI_FD:-none}" | uniq
	fluxq-run --mpi=pmi1 sh -c "test -n \"\$PMI_FD\" && echo some" | uniq
	fluxq-run --mpi=pmix true
	echo "$?"
	END
    run_job none && printf "none\nsome\n" >expected && head -n 2 none.out >got && test_cmp expected got &&
    grep "mpi=pmix: the values are none, pmi1 and pmi2" none.out && tail -n 1 none.out >got &&
    echo 2 >expected && test_cmp expected got
'
test_expect_success OPENMPI 'mpirun of Open MPI finds the nodes and starts its daemons through fluxq-run' '
    mpicc.openmpi -o ring.ompi "$PROGRAMS/ring.c" &&
    mpicc.openmpi -o allreduce.ompi "$PROGRAMS/allreduce.c" &&
    write_script ompi.sh <<-\END &&
	#!/bin/sh
	echo "agent: $OMPI_MCA_plm_rsh_agent"
	mpirun.openmpi ./ring.ompi 4 || exit
	mpirun.openmpi -n 2 ./ring.ompi 2 || exit
	mpirun.openmpi ./allreduce.ompi 4 1 || exit
	fluxq-run -n 1 echo free
	END
    run_job ompi && grep "ring: came round through 4 tasks" ompi.out &&
    grep "ring: came round through 2 tasks" ompi.out && grep "allreduce: 4 tasks agree" ompi.out &&
    grep -x free ompi.out && grep -x "agent: fluxq-run --rsh" ompi.out
'
test_expect_success OPENMPI 'Open MPI uses shared memory in a virtual node, and TCP between virtual nodes' '
    write_script shared.sh <<-\END &&
	#!/bin/sh
	exec 2>&1
	for i in 1 2 3; do
	    mpirun.openmpi -n 8 --map-by ppr:2:node --oversubscribe ./ring.ompi 8 || exit
	done
	mpirun.openmpi -n 4 --map-by ppr:2:node --oversubscribe --mca btl_base_verbose 30 ./ring.ompi 4
	END
    run_job shared && grep -c "ring: came round through 8 tasks" shared.out >got && echo 3 >expected &&
    test_cmp expected got && grep "Using vader btl for send to .* on node node" shared.out &&
    grep "Using tcp btl for send to .* on node node" shared.out &&
    test_must_fail ls -d state/jobs/*/mpi-*
'
test_expect_success OPENMPI 'a user chooses the interface and the directory for shared memory' '
    mkdir own && write_script own.sh <<-\END &&
	#!/bin/sh
	OMPI_MCA_btl_vader_backing_directory=$PWD/own mpirun.openmpi -n 1 env
	END
    id=$(OMPI_MCA_btl_tcp_if_exclude=eth9 fluxq-submit -N 2 -o own.out ./own.sh) &&
    wait_job_state "$id" COMPLETED 60 && grep "^OMPI_MCA_btl_[vt]" own.out | sort >got &&
    printf "%s\n" OMPI_MCA_btl_tcp_if_exclude=eth9 \
        "OMPI_MCA_btl_vader_backing_directory=$PWD/own" >expected && test_cmp expected got
'
test_expect_success 'fluxq-run --rsh runs a command on a node, passes its status, and refuses wrong usage' '
    write_script rsh.sh <<-\END &&
	#!/bin/sh
	exec 2>&1
	node=$(sed -n "3s/ .*//p" "$FLUXQ_HOSTFILE")
	fluxq-run --rsh "$node" "test \$FLUXQ_NODENAME = $node;" exit 6
	echo "$?"
	fluxq-run --rsh nowhere true
	echo "$?"
	fluxq-run --rsh "$node"
	echo "$?"
	END
    run_job rsh && grep -x 6 rsh.out && grep "the job has no node nowhere" rsh.out && grep -x 1 rsh.out &&
    grep "rsh needs a node and a command" rsh.out && grep -x 2 rsh.out
'
test_done
