#!/bin/sh
test_description='fluxq-run starts parallel steps inside a job: placement, input, output, status, cores'
. "$(dirname "$0")/lib.sh"

# Each case is a script that runs as a job on four virtual nodes of two cores; the case compares
# the output of the script.

SQ="'"

# run_job NAME [SUBMIT-ARGUMENTS]: runs NAME.sh with its output in NAME.out; the job
# may end in any way.
run_job()
{
    run_name=$1
    shift
    id=$(fluxq-submit -o "$run_name.out" "$@" "./$run_name.sh") &&
        wait_job_state "$id" 'COMPLETED|FAILED|CANCELLED|TIMEOUT' 60
}

# job NAME [SUBMIT-ARGUMENTS]: like run_job, but the job must succeed.
job()
{
    run_job "$@" && job_state "$id" >ended && echo COMPLETED >wanted && test_cmp wanted ended ||
        {
            cat "$1.out"
            return 1
        }
}

start_broker --local 4

test_expect_success 'a step runs on all nodes, with all tasks of the job' '
    write_script all.sh <<-\END &&
	#!/bin/sh
	exec 2>&1
	fluxq-run sh -c "echo \$FLUXQ_PROCID/\$FLUXQ_NTASKS node \$FLUXQ_NODEID \$SLURM_PROCID"
	END
    job all -N 4 -n 4 && sort all.out >got &&
    printf "%s\n" "0/4 node 0 0" "1/4 node 1 1" "2/4 node 2 2" "3/4 node 3 3" >expected &&
    test_cmp expected got
'
test_expect_success 'options set the numbers of tasks and nodes, and the distribution of tasks' '
    write_script place.sh <<-\END &&
	#!/bin/sh
	exec 2>&1
	one() { echo "$*"; fluxq-run "$@" -l sh -c "echo \$FLUXQ_NODEID.\$FLUXQ_LOCALID" | sort; }
	one -n 3
	one -N 2 -n 4
	one -N 2 --ntasks-per-node 2
	one -n 6 -m cyclic -N 3 -O
	one -n 6 -m plane=2 -N 3 -O
	one -N 1 -n 2 -O
	END
    job place -N 4 -n 8 -c 1 && cat >expected <<-\END &&
	-n 3
	0: 0.0
	1: 1.0
	2: 2.0
	-N 2 -n 4
	0: 0.0
	1: 0.1
	2: 1.0
	3: 1.1
	-N 2 --ntasks-per-node 2
	0: 0.0
	1: 0.1
	2: 1.0
	3: 1.1
	-n 6 -m cyclic -N 3 -O
	0: 0.0
	1: 1.0
	2: 2.0
	3: 0.1
	4: 1.1
	5: 2.1
	-n 6 -m plane=2 -N 3 -O
	0: 0.0
	1: 0.1
	2: 1.0
	3: 1.1
	4: 2.0
	5: 2.1
	-N 1 -n 2 -O
	0: 0.0
	1: 0.1
	END
    test_cmp expected place.out
'
test_expect_success 'a step runs on named nodes, avoids named nodes, or follows a host file' '
    write_script names.sh <<-\END &&
	#!/bin/sh
	exec 2>&1
	set -- $(fluxq-run -n 4 -N 4 sh -c "echo \$FLUXQ_NODEID \$FLUXQ_NODENAME" | sort | cut -d" " -f2)
	fluxq-run -N 1 -n 1 -w "$3" sh -c "test \$FLUXQ_NODENAME = $3" && echo w
	fluxq-run -n 2 -x "$1,$2" sh -c "echo \$FLUXQ_NODENAME" | sort >got
	printf "%s\n" "$3" "$4" | sort | cmp - got && echo x
	printf "%s\n" "$2" "$1" "$2" >hosts
	SLURM_HOSTFILE=hosts fluxq-run -n 3 -m arbitrary -O -l sh -c "echo \$FLUXQ_NODENAME" | sort >got
	printf "%s\n" "0: $2" "1: $1" "2: $2" | cmp - got && echo arbitrary
	fluxq-run -w nowhere true
	echo "$?"
	END
    job names -N 4 -n 4 &&
    printf "%s\n" w x arbitrary "fluxq-run: --nodelist: the job has no node nowhere" 1 >expected &&
    test_cmp expected names.out
'
test_expect_success 'a task has the variables of its step' '
    write_script env.sh <<-\END &&
	#!/bin/sh
	exec 2>&1
	fluxq-run -n 1 true
	fluxq-run -N 2 -n 3 -O sh -c "test \$FLUXQ_PROCID != 2 || env" >vars
	for name in FLUXQ_STEP_ID SLURM_STEP_ID FLUXQ_NTASKS SLURM_NTASKS SLURM_NPROCS FLUXQ_STEP_NTASKS \
	    FLUXQ_STEP_NNODES SLURM_NNODES SLURM_JOB_NUM_NODES SLURM_STEP_TASKS_PER_NODE \
	    FLUXQ_STEP_TASKMAP FLUXQ_NODEID FLUXQ_LOCALID HELLO; do
	    grep "^$name=" vars
	done
	END
    HELLO=there job env -N 4 -n 4 -c 1 && cat >expected <<-\END &&
	FLUXQ_STEP_ID=1
	SLURM_STEP_ID=1
	FLUXQ_NTASKS=3
	SLURM_NTASKS=3
	SLURM_NPROCS=3
	FLUXQ_STEP_NTASKS=3
	FLUXQ_STEP_NNODES=2
	SLURM_NNODES=2
	SLURM_JOB_NUM_NODES=4
	SLURM_STEP_TASKS_PER_NODE=2,1
	FLUXQ_STEP_TASKMAP=[[0,1,2,1],[1,1,1,1]]
	FLUXQ_NODEID=1
	FLUXQ_LOCALID=0
	HELLO=there
	END
    test_cmp expected env.out
'
test_expect_success '--export passes all variables, none, or the named ones' '
    write_script export.sh <<-\END &&
	#!/bin/sh
	exec 2>&1
	A=1 B=2
	export A B
	fluxq-run -n 1 sh -c "echo \$A\$B"
	fluxq-run -n 1 --export=NONE sh -c "echo none\$A\$B \$FLUXQ_PROCID"
	fluxq-run -n 1 --export=B,C=3 sh -c "echo \$A\$B\$C"
	fluxq-run -n 1 --export=ALL,A=5 sh -c "echo \$A\$B"
	fluxq-run -n 1 --export==3 true
	echo "$?"
	END
    job export && printf "%s\n" 12 "none 0" 23 52 \
        "fluxq-run: --export: ${SQ}=3${SQ} is neither NAME nor NAME=VALUE" 2 >expected &&
    test_cmp expected export.out
'
test_expect_success 'the exit status is of the worst task or 128 + signal, with one line for tasks with equal ends' '
    write_script status.sh <<-\END &&
	#!/bin/sh
	exec 2>&1
	fluxq-run sh -c "exit \$FLUXQ_PROCID"
	echo "$?"
	fluxq-run -n 2 sh -c "kill -9 \$\$"
	echo "$?"
	fluxq-run -n 1 nosuch
	echo "$?"
	fluxq-run -n 1 /etc/passwd 2>/dev/null
	echo "$?"
	fluxq-run -n 1 -D /nowhere true
	echo "$?"
	fluxq-run true
	echo "$?"
	END
    job status -N 2 -n 2 && sed "s/ on [^ :]*:/ on NODE:/; s/node [^ ]*:/node NODE:/" status.out >got &&
    cat >expected <<-\END &&
	fluxq-run: task 1 on NODE: exit status 1
	1
	fluxq-run: tasks 0-1: killed by signal 9 (Killed)
	137
	fluxq: cannot execute nosuch: No such file or directory
	fluxq-run: task 0 on NODE: exit status 127
	127
	126
	fluxq-run: task 0 on NODE: exit status 1
	fluxq-run: node NODE: cannot change to directory /nowhere: No such file or directory
	1
	0
	END
    test_cmp expected got
'
test_expect_success '--kill-on-bad-exit and --wait end the other tasks, and -K exits with the first failure' '
    write_script others.sh <<-\END &&
	#!/bin/sh
	exec 2>&1
	fluxq-run -K sh -c "test \$FLUXQ_PROCID = 0 && exit 3; exec sleep 100"
	echo "$?"
	fluxq-run -W 1 sh -c "test \$FLUXQ_PROCID = 0 || exec sleep 100"
	echo "$?"
	END
    job others -N 2 -n 2 && grep "a task failed, and --kill-on-bad-exit" others.out &&
    grep "the time of --wait has passed" others.out &&
    grep -x "[0-9]*" others.out >got && printf "3\n143\n" >expected && test_cmp expected got
'
test_expect_success 'a task that ignores SIGTERM is killed' '
    write_script stubborn.sh <<-\END &&
	#!/bin/sh
	exec 2>&1
	fluxq-run -K sh -c "test \$FLUXQ_PROCID = 0 && sleep 0.5 && exit 3; trap : TERM; while :; do sleep 0.1; done"
	echo "$?"
	END
    job stubborn -N 2 -n 2 && grep "killed by signal 9" stubborn.out && grep -x 3 stubborn.out
'
test_expect_success 'standard input goes to all tasks, to one, to none, or comes from a file' '
    write_script input.sh <<-\END &&
	#!/bin/sh
	exec 2>&1
	seq 1 100000 >numbers
	sum=$(md5sum <numbers)
	fluxq-run md5sum <numbers | sort | uniq -c | sed "s/^ *//;s/ .*//"
	cat numbers | fluxq-run -i 1 -l md5sum | grep "1: $sum" >/dev/null && echo one
	echo x | fluxq-run -i none wc -c
	fluxq-run -i numbers -n 1 md5sum | grep "$sum" >/dev/null && echo file
	yes | fluxq-run -n 2 head -n 1
	fluxq-run -i nosuch true
	echo "$?"
	fluxq-run -i 2 true </dev/null
	echo "$?"
	while read -r line; do
	    fluxq-run -n 1 -i none echo "$line"
	done <<E
	a
	b
	E
	END
    job input -N 2 -n 2 && printf "%s\n" 2 one 0 0 file y y \
        "fluxq-run: --input: nosuch: No such file or directory" 1 \
        "fluxq-run: --input: there is no task 2, tasks are 0 to 1" 1 a b >expected &&
    test_cmp expected input.out
'
test_expect_success 'standard input comes from a file for each task or node, or from a file named by the step' '
    write_script inputs.sh <<-\END &&
	#!/bin/sh
	exec 2>&1
	for t in 0 1 2 3; do seq "$t" 10 400000 >"in.$t"; done
	for n in 0 1; do echo "node $n" >"node.$n"; done
	fluxq-run -n 4 -i in.%t md5sum -- >sums
	md5sum <in.0 >own; md5sum <in.1 >>own; md5sum <in.2 >>own; md5sum <in.3 >>own
	sort sums >a; sort own >b; cmp a b && echo same
	fluxq-run -n 4 -l -i node.%n cat | sort
	echo "of step 4" >"job-$FLUXQ_JOB_ID.4.in"
	fluxq-run -n 2 true
	fluxq-run -n 2 true
	fluxq-run -n 2 -i job-%J.in cat
	fluxq-run -n 2 -i /dev/null cat
	rm in.2
	fluxq-run -n 4 -i in.%t cat >/dev/null
	echo "$?"
	fluxq-run -n 2 -i in.%q cat
	echo "$?"
	mkfifo pipe.0
	fluxq-run -n 1 -i pipe.%t cat
	echo "$?"
	fluxq-run -n 4 -i node.0 sh -c "test \$FLUXQ_PROCID = 0 || cat" | wc -l
	fluxq-run -n 2 -i in.%t sh -c "test \$FLUXQ_PROCID = 0 || wc -l"
	END
    job inputs -N 2 -n 4 && cat >expected <<-\END &&
	same
	0: node 0
	1: node 0
	2: node 1
	3: node 1
	of step 4
	of step 4
	fluxq-run: --input: in.2: No such file or directory
	1
	fluxq-run: --input: 
	2
	fluxq-run: --input: pipe.0 is not a regular file: with %t, %n or %N in the name each task needs one
	1
	3
	40000
	END
    sed "s/^\(fluxq-run: --input: \).*%q.*/\1/" inputs.out >actual && test_cmp expected actual
'

test_expect_success 'output goes to files by task and stream, lines have labels, and an unfinished line is kept' '
    write_script output.sh <<-\END &&
	#!/bin/sh
	exec 2>&1
	fluxq-run -o o-%t -e e-all sh -c "echo out \$FLUXQ_PROCID; echo err >&2"
	cat o-0 o-1
	wc -l <e-all
	fluxq-run -o o-all sh -c "echo out; echo err >&2"
	sort o-all | uniq -c | sed "s/^ *//"
	fluxq-run -n 1 -o o-all --open-mode append echo more
	wc -l <o-all
	fluxq-run -o none echo nothing
	fluxq-run -o 1 sh -c "echo task \$FLUXQ_PROCID"
	fluxq-run -o n-%J-%s-%n -O -n 4 sh -c "echo \$FLUXQ_NODEID"
	cat n-$FLUXQ_JOB_ID.5-5-0 n-$FLUXQ_JOB_ID.5-5-1 | tr "\n" " "
	fluxq-run -O -n 12 -l sh -c "test \$FLUXQ_PROCID -gt 0 || printf \"a\nb\""
	fluxq-run -o /nowhere/x true
	echo "$?"
	fluxq-run -o %y true
	echo "$?"
	END
    job output -N 2 -n 2 && cat >expected <<-\END &&
	out 0
	out 1
	2
	2 err
	2 out
	5
	task 1
	0 0 1 1 00: a
	00: b
	fluxq-run: cannot write /nowhere/x: No such file or directory
	1
	END
    head -n 11 output.out >got && test_cmp expected got && tail -n 1 output.out >got &&
    echo 2 >expected && test_cmp expected got && grep "^fluxq-run: --output: .*%y" output.out
'
test_expect_success 'all output of tasks that write at once arrives complete and in order' '
    write_script much.sh <<-\END &&
	#!/bin/sh
	exec 2>&1
	fluxq-run -o much-%t seq 1 400000
	for t in 0 1 2 3; do md5sum <much-$t; done | uniq -c | sed "s/^ *//" >sums
	echo "4 $(seq 1 400000 | md5sum)" | cmp - sums && echo files
	fluxq-run -l seq 1 100000 >labelled
	for t in 0 1 2 3; do sed -n "s/^$t: //p" labelled | md5sum; done | uniq -c | sed "s/^ *//" >sums
	echo "4 $(seq 1 100000 | md5sum)" | cmp - sums && echo labels
	END
    job much -N 4 -n 4 && printf "files\nlabels\n" >expected && test_cmp expected much.out
'
test_expect_success 'a reader that stops holds only its own step' '
    write_script slow.sh <<-\END &&
	#!/bin/sh
	exec 2>&1
	mkfifo pipe
	fluxq-run --overlap -n 1 sh -c "seq 1 3000000; echo end >seq-done" >pipe &
	exec 3<pipe
	fluxq-run --overlap -n 1 echo other
	test -e seq-done && echo "nothing held it"
	wc -l <&3
	wait
	END
    job slow && printf "other\n3000000\n" >expected && test_cmp expected slow.out
'
test_expect_success 'steps wait for free cores of other steps, or share cores with --overlap' '
    write_script share.sh <<-\END &&
	#!/bin/sh
	exec 2>&1
	step="echo \$FLUXQ_STEP_ID >>began; until test -e go; do sleep 0.05; done"
	began() { until test "$(wc -l <began)" -ge "$1"; do sleep 0.05; done; }
	: >began
	fluxq-run -N 2 -n 2 sh -c "$step" &
	began 2
	fluxq-run -I -n 1 true
	echo "immediate $?"
	fluxq-run --overlap -n 1 echo overlap
	fluxq-run -n 1 sh -c "test -e go && echo waited" &
	sleep 0.5
	touch go
	wait
	rm go
	: >began
	for i in 1 2 3 4; do
	    fluxq-run --exact -n 1 sh -c "echo \$FLUXQ_NODEID.\$FLUXQ_STEP_NODELIST.\$FLUXQ_CORES >>cores; $step" &
	done
	began 4
	fluxq-run --exact -I -n 1 true
	echo "exact $?"
	touch go
	wait
	sort -u cores | wc -l
	END
    job share -N 2 -n 4 && cat >expected <<-\END &&
	fluxq-run: its cores are in use by other steps
	immediate 1
	overlap
	fluxq-run: the step waits for cores that other steps use
	waited
	fluxq-run: its cores are in use by other steps
	exact 1
	4
	END
    test_cmp expected share.out
'
test_expect_success 'a step that can never fit is refused at once, with the numbers' '
    write_script never.sh <<-\END &&
	#!/bin/sh
	exec 2>&1
	fluxq-run -n 100 true
	echo "$?"
	fluxq-run -N 3 true
	echo "$?"
	fluxq-run -N 2 -n 1 true
	echo "$?"
	fluxq-run -n 1 -c 1000 true
	echo "$?"
	fluxq-run -n 0 true
	echo "$?"
	fluxq-run -G 3 -n 1 true
	echo "$?"
	END
    job never -N 2 -n 2 && cat never.out &&
    grep "100 tasks need room on 2 nodes" never.out && grep "3 nodes are requested, the job has 2" never.out &&
    grep "ntasks is less than --nodes" never.out && grep "no node of the job has 1000 cores" never.out &&
    grep "3 GPUs are requested, its nodes have 0" never.out &&
    grep -c -x 1 never.out >got && echo 5 >expected && test_cmp expected got && grep -x 2 never.out
'
test_expect_success 'with --multi-prog each task has its own program, and errors are refused with their line' '
    write_script multi.sh <<-\END &&
	#!/bin/sh
	exec 2>&1
	cat >conf <<E
	# a comment
	0    echo first %t
	1-2  echo "second  part" %o
	*    echo rest %t
	E
	fluxq-run -n 4 --multi-prog conf | sort
	printf "0 true\n2 true\n" >conf
	fluxq-run -n 3 --multi-prog conf
	echo "$?"
	END
    job multi -N 4 -n 4 && cat multi.out && cat >expected <<-\END &&
	first 0
	rest 3
	second  part 0
	second  part 1
	END
    head -n 4 multi.out >got && test_cmp expected got && grep "^fluxq-run: --multi-prog: no line for tasks 1" multi.out &&
    tail -n 1 multi.out >got && echo 1 >expected && test_cmp expected got
'
test_expect_success 'one ctrl-C reports the state, two kill the step, and other signals go to the tasks' '
    write_script ctrl.sh <<-\END &&
	#!/bin/sh
	exec 2>&1
	fluxq-run sh -c "echo >up.\$FLUXQ_PROCID; exec sleep 100" &
	until test -e up.0 && test -e up.1; do sleep 0.05; done
	kill -INT $!
	sleep 0.3
	kill -INT $!
	wait $!
	echo "$?"
	fluxq-run -n 1 sh -c "trap \"echo usr1; exit 7\" USR1; echo >up.2; while :; do sleep 0.05; done" &
	until test -e up.2; do sleep 0.05; done
	kill -USR1 $!
	wait $!
	echo "$?"
	END
    job ctrl -N 2 -n 2 && cat ctrl.out &&
    grep "interrupt: 2 of 2 tasks run (0-1); once more within 1 second ends them" ctrl.out &&
    grep "interrupt: all tasks are killed" ctrl.out && grep -x 137 ctrl.out && grep -x usr1 ctrl.out &&
    tail -n 1 ctrl.out >got && echo 7 >expected && test_cmp expected got
'
test_expect_success 'when fluxq-run is killed its tasks end, and the job goes on' '
    write_script gone.sh <<-\END &&
	#!/bin/sh
	exec 2>&1
	fluxq-run sh -c "echo \$\$ >pid.\$FLUXQ_PROCID; exec sleep 100" &
	until test -s pid.0 && test -s pid.1; do sleep 0.05; done
	kill -KILL $!
	wait $!
	fluxq-run -n 2 true && echo next
	kill -0 "$(cat pid.0)" 2>/dev/null || kill -0 "$(cat pid.1)" 2>/dev/null || echo gone
	END
    job gone -N 2 -n 2 && printf "next\ngone\n" >expected && tail -n 2 gone.out >got && test_cmp expected got
'
test_expect_success 'a cancel of the job ends its steps, and no process is left' '
    write_script cancel.sh <<-\END &&
	#!/bin/sh
	exec 2>&1
	fluxq-run sh -c "echo \$\$ >cpid.\$FLUXQ_PROCID; trap : TERM; while :; do sleep 0.1; done"
	END
    id=$(fluxq-submit -N 2 -n 2 -o cancel.out ./cancel.sh) &&
    wait_until 20 test -s cpid.0 && wait_until 20 test -s cpid.1 && fluxq-cancel $id &&
    wait_job_state $id CANCELLED 60 && lib_gone $(cat cpid.0) && lib_gone $(cat cpid.1)
'
test_expect_success 'one step can have 500 tasks, and 50 steps can run one after the other' '
    write_script many.sh <<-\END &&
	#!/bin/sh
	exec 2>&1
	fluxq-run -O -n 500 sh -c "echo \$FLUXQ_PROCID" | sort -n >got
	seq 0 499 | cmp - got && echo tasks
	for i in $(seq 50); do fluxq-run -n 1 echo "$i"; done >got
	seq 50 | cmp - got && echo steps
	END
    job many -N 4 -n 4 && printf "tasks\nsteps\n" >expected && test_cmp expected many.out
'
test_expect_success 'the agent'\''s fluxq-run outside a job reports that there is no job' '
    test_expect_code 1 env -u FLUXQ_AGENT_SOCKET "$FLUXQ_BUILD_DIR/src/shell/fluxq-run" true 2>err &&
    grep "not inside a job" err &&
    "$FLUXQ_BUILD_DIR/src/shell/fluxq-run" --help | grep -- --multi-prog &&
    test_expect_code 2 "$FLUXQ_BUILD_DIR/src/shell/fluxq-run" --no-such 2>err && grep no-such err
'
test_done
