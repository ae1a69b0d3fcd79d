#!/bin/sh
test_description='fluxq: the commands in a console, from a script and on a terminal'
. "$(dirname "$0")/lib.sh"

start_broker
HOME=$PWD
export HOME
unset XDG_STATE_HOME

talk()
{
    python3 "$FLUXQ_SOURCE_DIR/t/helper/pty-talk.py" "$@"
}

test_expect_success 'fluxq COMMAND is the same program as fluxq-COMMAND, and --help lists all commands' '
    fluxq --help >out && cat out &&
    for name in submit queue cancel show logs info ctl; do
        grep -E "^  $name +[A-Z]" out &&
        fluxq $name --help >one && fluxq-$name --help >two && test_cmp one two &&
        fluxq help $name >two && test_cmp one two &&
        fluxq $name --version | grep "^fluxq-$name [0-9]" || return 1
    done &&
    fluxq --version | grep "^fluxq [0-9]" &&
    fluxq info | grep idle && fluxq --broker $FLUXQ_BROKER info | grep idle
'

test_expect_success 'an unknown command is refused' '
    test_expect_code 2 fluxq frob 2>err && grep frob err &&
    test_expect_code 2 fluxq --frob && test_expect_code 2 fluxq help frob &&
    test_expect_code 1 fluxq --broker unix:///nonexistent/x info 2>err && grep /nonexistent/x err
'

test_expect_success 'fluxq runs a piped script without a prompt, with quoted words and comments' '
    cat >script <<-\END &&
	# a comment, and an empty line

	submit -o /dev/null --hold -J "two words" -- true
	fluxq-submit -o /dev/null --hold -J two\ words -- true  # the same
	queue --no-header -o name
	END
    fluxq <script >out 2>err && test_must_be_empty err &&
    test "$(grep -cxE "[0-9]+" out)" -eq 2 && test "$(grep -cx "two words" out)" -eq 2 &&
    test "$(wc -l <out)" -eq 4 && test_must_fail grep "fluxq>" out
'

test_expect_success 'a failed command does not stop the script, and the script exits with the status of its last command' '
    printf "show job 99999\ninfo --no-such-option\ninfo\n" | fluxq >out 2>err &&
    grep idle out && grep 99999 err && grep no-such-option err &&
    printf "info\nshow job 99999\n" | test_expect_code 1 fluxq >out &&
    printf "info\nfrob\n" | test_expect_code 2 fluxq >out &&
    printf "show job 99999\nexit\ninfo\n" | test_expect_code 1 fluxq >out && test_must_fail grep idle out &&
    printf "submit -o /dev/null --wait -- sh -c \"exit 7\"" | test_expect_code 7 fluxq >out
'

test_expect_success 'an open quote, a NUL byte and a long line are refused, and the next line runs' '
    printf "info \"\ninfo\n" | fluxq >out 2>err && grep idle out && grep quote err &&
    printf "in\0fo\ninfo\n" | fluxq >out 2>err && grep idle out && grep NUL err &&
    { head -c 2000000 /dev/zero | tr "\0" x && printf "\ninfo\n"; } | fluxq >out 2>err && grep idle out
'

test_expect_success 'a script cannot be read from the stdin that the console reads' '
    printf "submit\n#!/bin/sh\n" | test_expect_code 2 fluxq 2>err && grep "name a script" err
'

test_expect_success 'many commands in one console leave no descriptor open' '
    for i in $(seq 300); do echo "show job 99999"; echo "info"; done >script &&
    (ulimit -n 20 && test_expect_code 0 fluxq <script) >out 2>err &&
    test "$(grep -c idle out)" -eq 300
'

test_expect_success 'the console on a terminal has a prompt, help, commands, errors, and ends by ctrl-D' '
    test_expect_code 2 talk fluxq <<-\END
	expect fluxq> $
	send help\n
	expect submit +Submit
	expect exit, quit
	expect fluxq> $
	send info\n
	expect idle +4
	expect fluxq> $
	send frob\n
	expect frob: no such command
	expect fluxq> $
	send \x04
	end
	END
'

test_expect_success 'the console exits with the status of its last command' '
    test_expect_code 1 talk fluxq <<-\END
	expect fluxq> $
	send show job 99999\n
	expect there is no job
	expect fluxq> $
	send exit\n
	end
	END
'

test_expect_success 'tab completes commands, options and subcommands' '
    talk fluxq <<-\END
	expect fluxq> $
	send sub\t--dry\t-- true\n
	expect submit --dry-run
	expect "command": \[
	expect fluxq> $
	send ctl sta\t--j\t\n
	expect ctl status --json
	expect "version"
	expect fluxq> $
	send \x04
	end
	END
'

test_expect_success 'tab completes ids, nodes and queues that the broker knows' '
    id=$(fluxq-submit -o /dev/null --hold -- true) && fluxq-submit -o /dev/null --wait -- true &&
    talk fluxq <<-END
	expect fluxq> \$
	send ctl drain no\t\t\t
	expect node0 +node1 +node2 +node3
	send 2 --reason test\n
	expect fluxq> \$
	send info --nodes=node\t2\n
	expect drained +1
	expect fluxq> \$
	send ctl resume node2\n
	expect fluxq> \$
	send queue --queue=ba\t\n
	expect --queue=batch
	expect JOBID
	expect fluxq> \$
	send cancel \t\t
	expect $id
	send \x03
	expect fluxq> \$
	send \x04
	end
	END
'

test_expect_success 'without a broker completion soon offers nothing' '
    talk fluxq --broker unix:///nonexistent/x <<-\END
	expect fluxq> $
	send cancel \t\t\n
	expect name the jobs
	expect fluxq> $
	send \x04
	end
	END
    test $? -eq 2
'

test_expect_success 'a broker that does not answer delays completion by only a second' '
    kill -STOP $BROKER_PID && test_when_finished "kill -CONT $BROKER_PID" && before=$(date +%s) &&
    talk fluxq <<-\END &&
	expect fluxq> $
	send show job \tx\n
	expect job id
	expect fluxq> $
	send help\n
	expect fluxq> $
	send \x04
	end
	END
    test $(($(date +%s) - before)) -lt 10
'

test_expect_success 'ctrl-C clears the line at the prompt, and ends a running command but not the console' '
    id=$(fluxq-submit -o /dev/null -- sleep 1000) && wait_job_state $id RUNNING &&
    talk fluxq <<-END &&
	expect fluxq> \$
	send nonsense\x03
	expect fluxq> \$
	send logs -f $id\n
	expect logs -f $id\r\n
	send \x03
	expect fluxq> \$
	send submit --wait -o /dev/null -- sleep 1000\n
	expect \n[0-9]+\r
	send \x03
	expect goes on
	expect fluxq> \$
	send info\n
	expect idle
	unseen no such command
	expect fluxq> \$
	send \x04
	end
	END
    test "$(job_state $id)" = RUNNING && fluxq-cancel --state RUNNING
'

test_expect_success 'ctrl-C ends a command whose broker does not answer' '
    kill -STOP $BROKER_PID && test_when_finished "kill -CONT $BROKER_PID" &&
    talk fluxq <<-\END
	expect fluxq> $
	send info\n
	expect info\r\n
	send \x03
	expect fluxq> $
	send \x04
	end
	END
    status=$? # 0: ctrl-C came just before the command began
    test $status -eq 130 || test $status -eq 0
'

test_expect_success 'the history is kept without repetitions, and only its owner can read it' '
    rm -rf .local && for i in 1 2; do
        talk fluxq <<-\END || return 1
	expect fluxq> $
	send info\n
	expect idle
	expect fluxq> $
	send info\n
	expect idle
	expect fluxq> $
	send queue\n
	expect JOBID
	expect fluxq> $
	send \x04
	end
	END
    done &&
    printf "info\nqueue\ninfo\nqueue\n" >wanted && test_cmp wanted .local/state/fluxq/history &&
    test "$(stat -c %a .local/state/fluxq/history)" = 600 &&
    test "$(stat -c %a .local/state/fluxq)" = 700 &&
    XDG_STATE_HOME=$PWD/elsewhere talk fluxq <<-\END &&
	expect fluxq> $
	send help\n
	expect fluxq> $
	send \x04
	end
	END
    test_cmp wanted .local/state/fluxq/history && echo help >wanted &&
    test_cmp wanted elsewhere/fluxq/history
'

test_expect_success 'the history has at most 1000 lines, and the console works without a usable history file' '
    seq 5000 >.local/state/fluxq/history &&
    printf "expect fluxq> $\nsend info\\\\n\nexpect idle\nexpect fluxq> $\nsend \\\\x04\nend\n" >talk &&
    talk fluxq <talk && test "$(wc -l <.local/state/fluxq/history)" -eq 1000 &&
    tail -n 1 .local/state/fluxq/history | grep -x info &&
    rm -rf .local && : >.local && talk fluxq <talk && rm .local &&
    mkdir -p .local/state/fluxq && ln -s "$PWD/target" .local/state/fluxq/history && : >target &&
    talk fluxq <talk && test_must_be_empty target
'

test_done
