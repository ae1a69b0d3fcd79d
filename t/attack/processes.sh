# shellcheck shell=sh
# processes.sh: attacks through processes, /proc and the environment; included by t1091-attack.t.

# The tasks of the job, not the short-lived processes that they start.
tasks()
{
    for pid in $(processes_with VICTIM_SECRET=sesame-97); do
        agents_of $job | grep -qx "$(parent_of "$pid")" && echo "$pid"
    done
}
attack 'environment, memory, descriptors and working directory of agents and tasks are closed in /proc' '
    test -n "$(tasks)" &&
    for pid in $(agents_of $job) $(tasks); do
        denied cat /proc/$pid/environ && denied ls /proc/$pid/fd/ && denied cat /proc/$pid/mem && denied ls /proc/$pid/cwd/ &&
        denied sh -c ": >/proc/$pid/oom_score_adj" || return 1
    done
'
attack 'no key of the job and nothing of its environment is on a command line or in another job' '
    key=$(cat "$BROKER_STATE/jobs/$job/key-0") && test ${#key} -ge 32 &&
    test_must_fail grep -lsaF -e "$key" -e sesame-97 /proc/$BROKER_PID/cmdline $(agents_of $job | sed "s,.*,/proc/&/cmdline,") &&
    ends -o env.txt -- sh -c "env; cat /proc/self/cmdline" && test -s "$attacker/env.txt" &&
    test_must_fail grep -aF -e "$key" -e sesame-97 "$attacker/env.txt" && test_must_fail grep -aF "$key" "$BROKER_LOG"
'
attack 'signals of another user reach neither agents nor tasks nor the broker' '
    for pid in $BROKER_PID $(agents_of $job) $(tasks); do
        denied sh -c "kill -KILL $pid" || return 1
    done &&
    ends --no-requeue -o /dev/null -- sh -c "kill -KILL -1" && ends --no-requeue -o /dev/null -- sh -c "kill -STOP $(agents_of $job | head -n 1) $BROKER_PID"
'
attack 'a job cannot leave its cgroup, gain rights or get the broker'\''s descriptors' '
    cat >"$attacker/grow.sh" <<-\END &&
	grep -E "^(NoNewPrivs|CapEff):" /proc/self/status
	for file in /sys/fs/cgroup/cgroup.procs /sys/fs/cgroup/*/cgroup.procs; do echo $$ >$file; done 2>/dev/null && echo left
	ls -l /proc/self/fd | grep -c "journal\|socket:\|eventpoll"
	END
    ends -o grow.txt -- sh grow.sh; printf "NoNewPrivs:\t1\nCapEff:\t0000000000000000\n0\n" | sort >expected &&
    sort "$attacker/grow.txt" >grown && test_cmp expected grown
'
