#!/bin/sh
test_description='MPI programs of Debian: MPICH started by fluxq-run, Open MPI by its mpirun or with PMIx'
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

# The helper is built where OpenPMIx is installed.
if [ -x "$FLUXQ_BUILD_DIR/src/pmix/fluxq-pmix" ] && pkg-config --exists pmix; then
    test_set_prereq PMIX
else
    echo "# no fluxq-pmix: apt-get install libpmix-dev, and configure again"
fi

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
	fluxq-run --mpi=openmpi true
	echo "$?"
	END
    run_job none && printf "none\nsome\n" >expected && head -n 2 none.out >got && test_cmp expected got &&
    grep "mpi=openmpi: the values are none, pmi1 and pmi2" none.out && tail -n 1 none.out >got &&
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
test_expect_success PMIX 'a PMIx client puts, commits, fences and gets across nodes' '
    gcc -o pmixput "$PROGRAMS/pmixput.c" $(pkg-config --cflags --libs pmix) &&
    write_script put.sh <<-\END &&
	#!/bin/sh
	exec 2>&1
	srun --mpi=list | grep -x pmix || exit
	srun -n4 --mpi=pmix ./pmixput 4 || exit
	srun -n4 --mpi=pmix_v4 ./pmixput 4 pairs || exit
	fluxq-run -N2 -n8 -O -m cyclic --mpi=pmix ./pmixput 8 pairs || exit
	srun -N1 -n1 --mpi=pmix ./pmixput 1
	END
    run_job put && printf "%s\n" pmix "pmixput: 4 tasks" "pmixput: 4 tasks" "pmixput: 8 tasks" "pmixput: 1 tasks" >expected &&
    test_cmp expected put.out
'
test_expect_success PMIX,OPENMPI 'srun --mpi=pmix starts programs of Open MPI' '
    write_script direct.sh <<-\END &&
	#!/bin/sh
	exec 2>&1
	srun --mpi=pmix ./ring.ompi 4 || exit
	srun ./ring.ompi 4 || exit
	SLURM_MPI_TYPE=pmix srun sh -c "exec ./ring.ompi 4" || exit
	SLURM_MPI_TYPE=none srun -n1 sh -c "echo \${PMIX_RANK:-none} \${PMI_RANK:-none}"
	SLURM_MPI_TYPE=other srun true 2>&1 | grep -o "SLURM_MPI_TYPE: --mpi=other"
	srun -N4 -n8 -O --mpi=pmix ./allreduce.ompi 8 2 || exit
	srun -N2 -n8 -O -m cyclic --mpi=pmix ./allreduce.ompi 8 4 || exit
	srun -N2 -n2 --mpi=pmix ./ring.ompi 2 abort >abort.txt 2>&1
	echo "status $?"
	grep -o "task 1 aborts" abort.txt
	END
    run_job direct && srun -N2 -n4 ./ring.ompi 4 >outside.txt && grep "ring: came round through 4 tasks" outside.txt &&
    printf "%s\n" "ring: came round through 4 tasks" "ring: came round through 4 tasks" \
        "ring: came round through 4 tasks" "none none" "SLURM_MPI_TYPE: --mpi=other" \
        "allreduce: 8 tasks agree" "allreduce: 8 tasks agree" "status 143" "task 1 aborts" >expected && test_cmp expected direct.out
'
test_expect_success PMIX,OPENMPI 'a damaged program does not harm the agent that looks for its libraries' '
    cat >damage.py <<-\END &&
	import random
	random.seed (7)
	data = open ("ring.ompi", "rb").read ()
	for i, n in enumerate ([0, 4, 63, 64, 200, 2000, len (data) // 2]):
	    open ("cut.%d" % i, "wb").write (data[:n])
	for i in range (40):
	    bad = bytearray (data)
	    for k in range (30):
	        bad[random.randrange (16, 1000)] = random.randrange (256)
	    open ("bad.%d" % i, "wb").write (bad)
	END
    python3 damage.py && chmod +x cut.* bad.* &&
    write_script damaged.sh <<-\END &&
	#!/bin/sh
	for program in cut.* bad.*; do
	    timeout 10 srun -n1 "./$program" 1 >/dev/null 2>&1
	done
	srun -n1 echo alive
	END
    run_job damaged && echo alive >expected && test_cmp expected damaged.out
'
test_expect_success PMIX 'a task that dies before a fence, or without PMIx_Init, ends the step' '
    write_script die.sh <<-\END &&
	#!/bin/sh
	exec 2>&1
	srun -n4 --mpi=pmix ./pmixput 4 die
	echo "status $?"
	srun -n4 --mpi=pmix sh -c "test \$SLURM_PROCID != 3 || exit 5; exec ./pmixput 4"
	echo "status $?"
	srun -n4 --mpi=pmix hostname | sort -u | wc -l
	END
    run_job die && grep "task 3 ended before PMIx_Finalize (exit status 0)" die.out &&
    grep "a task has ended without MPI_Init" die.out && ! grep "^status 0" die.out &&
    grep -c "^status" die.out >got && echo 2 >expected && test_cmp expected got && tail -n 1 die.out | grep -x 1
'
test_expect_success PMIX 'a helper that dies ends the step' '
    write_script helper.sh <<-\END &&
	#!/bin/sh
	exec 2>&1
	srun -n4 --mpi=pmix sh -c "echo \$\$ >started.\$SLURM_PROCID; exec sleep 60" &
	until test -s started.0 && test -s started.3; do sleep 0.1; done
	for dir in /proc/[0-9]*; do
	    grep -q "^PPid:.$(sed -n "s/^PPid:.//p" "/proc/$(cat started.3)/status")$" "$dir/status" &&
	        tr "\0" " " <"$dir/cmdline" | grep -q "fluxq-pmix [0-9]" && kill -9 "${dir#/proc/}"
	done 2>/dev/null
	wait $!
	echo "status $?"
	END
    run_job helper && grep "node node3: --mpi=pmix: fluxq-pmix" helper.out && grep "^status 143" helper.out
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
test_expect_success 'without a job --mpi=list says what this node has' '
    srun --mpi=list >kinds && grep -x pmi2 kinds && fluxq-run --mpi=list >kinds.own && test_cmp kinds kinds.own &&
    test_expect_code 2 fluxq-run --mpi=none 2>err && grep "which command" err
'

# The agent also looks for the helper of an installed fluxq.
if [ -x /usr/libexec/fluxq/fluxq-pmix ] || [ -x /usr/local/libexec/fluxq/fluxq-pmix ]; then
    echo "# fluxq-pmix is installed on this machine"
else
    test_set_prereq NOT_INSTALLED
fi
test_expect_success NOT_INSTALLED 'a node without the helper refuses --mpi=pmix, and a helper is not trusted' '
    mkdir agent && cp "$FLUXQ_BUILD_DIR/src/shell/fluxq-shell" agent/ && ln -s fluxq-shell agent/fluxq-run &&
    stop_broker && FLUXQ_SHELL=$PWD/agent/fluxq-shell start_broker --local 4 &&
    write_script lacks.sh <<-\END &&
	#!/bin/sh
	exec 2>&1
	fluxq-run --mpi=list
	! test -x ring.ompi || fluxq-run -n1 ./ring.ompi 1
	fluxq-run --mpi=pmix true
	echo "status $?"
	END
    run_job lacks && grep "node node[0-3]: --mpi=pmix: fluxq-pmix is not installed here" lacks.out &&
    grep "^pmix: fluxq-pmix is not installed here" lacks.out && grep -x "status 1" lacks.out &&
    { ! test -x ring.ompi || grep "the program finds its other tasks by PMIx, which needs fluxq-pmix" lacks.out; } &&
    write_script agent/fluxq-pmix <<-\END &&
	#!/bin/sh
	exec python3 -c "import os, time; os.write($1, b\"7\" * 100); time.sleep (60)"
	END
    run_job lacks && grep "node node[0-3]: --mpi=pmix: fluxq-pmix sends an invalid message" lacks.out &&
    grep -x "status 1" lacks.out &&
    write_script agent/fluxq-pmix <<-\END &&
	#!/bin/sh
	echo "no library" >&2
	exit 3
	END
    run_job lacks && grep "no library" lacks.out && grep -x "status 1" lacks.out &&
    grep "node node[0-3]: --mpi=pmix: fluxq-pmix" lacks.out
'
test_done
