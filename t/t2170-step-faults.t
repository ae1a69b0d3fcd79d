#!/bin/sh
test_description='steps under faults: agents, tasks that do not end, the broker'
. "$(dirname "$0")/lib.sh"

. "$FLUXQ_SOURCE_DIR/t/faults.sh"

all_gone()
{
    for gone_file in "$@"; do
        lib_gone "$(cat "$gone_file")" || return 1
    done
}

start_broker --local 4
test_expect_success 'when an agent is killed during a step the job ends as for a lost node, and no task is left' '
    write_script lost.sh <<-\END &&
	#!/bin/sh
	fluxq-run sh -c "echo \$\$ >lost.\$FLUXQ_PROCID; exec sleep 1000"
	END
    id=$(fluxq-submit -N 3 -n 3 --no-requeue -o lost.out ./lost.sh) &&
    for n in 0 1 2; do wait_until 20 test -s lost.$n || return 1; done &&
    pid=$(worker_of $id 1) && kill -KILL "$pid" &&
    wait_job_state $id NODE_FAIL 60 && wait_until 20 all_gone lost.0 lost.1 lost.2
'
test_expect_success 'processes that a task leaves in another session end with the job at the latest' '
    write_script away.sh <<-\END &&
	#!/bin/sh
	exec 2>&1
	fluxq-run sh -c "setsid sh -c \"echo \\\$\\\$ >away.\$FLUXQ_PROCID; exec sleep 1000\" >/dev/null 2>&1 & \
	    until test -s away.\$FLUXQ_PROCID; do sleep 0.05; done"
	echo "step $?"
	END
    id=$(fluxq-submit -N 2 -n 2 -o away.out ./away.sh) && wait_job_state $id COMPLETED 60 &&
    echo "step 0" >expected && test_cmp expected away.out && wait_until 20 all_gone away.0 away.1
'
test_expect_success 'a task that ignores SIGTERM and whose client is gone gets SIGKILL after the grace' '
    write_script deaf.sh <<-\END &&
	#!/bin/sh
	fluxq-run sh -c "trap : TERM HUP; echo \$\$ >deaf.\$FLUXQ_PROCID; while :; do sleep 0.1; done" &
	until test -s deaf.0 && test -s deaf.1; do sleep 0.05; done
	kill -KILL $!
	fluxq-run echo next
	END
    id=$(fluxq-submit -N 2 -n 2 -o deaf.out ./deaf.sh) && wait_job_state $id COMPLETED 90 &&
    grep -c next deaf.out >got && echo 2 >expected && test_cmp expected got && all_gone deaf.0 deaf.1
'
test_expect_success 'a step can end while its output is read, and no line is lost or repeated' '
    write_script tail.sh <<-\END &&
	#!/bin/sh
	fluxq-run -l seq 1 200000 | (sleep 2; cat) >tail.all
	for t in 0 1 2 3; do sed -n "s/^$t: //p" tail.all | md5sum; done | uniq -c | sed "s/^ *//"
	END
    id=$(fluxq-submit -N 4 -n 4 -o tail.out ./tail.sh) && wait_job_state $id COMPLETED 90 &&
    echo "4 $(seq 1 200000 | md5sum)" >expected && test_cmp expected tail.out
'
test_expect_success 'a job does not notice a kill of the broker before, during or at the end of a step' '
    write_script broker.sh <<-\END &&
	#!/bin/sh
	: >began
	until test -e go1; do sleep 0.05; done
	fluxq-run sh -c "echo \$FLUXQ_PROCID; : >in.\$FLUXQ_PROCID; until test -e go2; do sleep 0.05; done; seq 1 50000"
	echo "status $?"
	END
    id=$(fluxq-submit -N 2 -n 2 -o broker.out ./broker.sh) &&
    wait_until 20 test -e began && kill_broker && touch go1 &&
    wait_until 20 test -e in.0 && wait_until 20 test -e in.1 &&
    start_broker --local 4 && kill_broker && touch go2 &&
    wait_until 60 grep -q "^status" broker.out &&
    start_broker --local 4 && wait_job_state $id COMPLETED 60 &&
    grep -x "status 0" broker.out && grep -c "" broker.out >got && echo 100003 >expected &&
    test_cmp expected got && count_events $id start >got && echo 1 >expected && test_cmp expected got
'
test_expect_success 'a client that sends invalid data to the agent'\''s socket is disconnected, and does no harm' '
    write_script door.sh <<-\END &&
	#!/bin/sh
	exec 2>&1
	cat >door.py <<-E
	import os, socket, struct
	def door():
	    s = socket.socket(socket.AF_UNIX)
	    here = os.getcwd()
	    os.chdir(os.path.dirname(os.environ["FLUXQ_AGENT_SOCKET"]))
	    s.connect(os.path.basename(os.environ["FLUXQ_AGENT_SOCKET"]))
	    os.chdir(here)
	    s.settimeout(20)
	    return s
	def frame(kind, data, stream=1, length=None):
	    return struct.pack("<BBHIII", kind, stream, 0, 0, 0, len(data) if length is None else length) + data
	for bad in (b"GET / HTTP/1.0\r\n\r\n", b"\xff" * 64, frame(66, b""), frame(115, b"x" * 8), frame(96, b"", 1, 1 << 30)):
	    s = door()
	    s.sendall(bad)
	    try:
	        print(len(s.recv(100)))
	    except ConnectionResetError:
	        print(0)
	s = door()
	s.sendall(frame(96, b"cwd 1\n/\narg 5\nwrong"))
	print(s.recv(1000)[0])
	E
	python3 door.py
	fluxq-run -n 1 echo alive
	END
    id=$(fluxq-submit -o door.out ./door.sh) && wait_job_state $id COMPLETED 60 &&
    printf "%s\n" 0 0 0 0 0 106 alive >expected && test_cmp expected door.out
'
test_done
