# shellcheck shell=sh
# agents.sh: attacks on the sockets of agents; included by t1091-attack.t.

attack 'the sockets of the job'\''s agents and of its steps cannot be reached by another user' '
    cat >"$FLUXQ_RUN/bin/reach.py" <<-\END &&
	import socket, sys
	for path in sys.argv[1:]:
	    s = socket.socket(socket.AF_UNIX)
	    try:
	        s.connect(path)
	        print("reached", path)
	    except PermissionError:
	        print("refused")
	END
    set -- $(find "$BROKER_STATE/jobs/$job" -type s) && test $# -ge 3 &&
    attacker /usr/bin/python3 "$FLUXQ_RUN/bin/reach.py" "$@" >reached && test "$(sort -u reached)" = refused && test "$(wc -l <reached)" = $#
'
# The inodes of a process'\''s sockets, of abstract sockets and of TCP sockets that listen.
open_doors()
{
    for pid in $(agents_of $job); do
        for fd in "/proc/$pid/fd"/*; do readlink "$fd"; done | sed -n 's/socket:\[\(.*\)\]/\1/p'
    done | sort -u >inodes
    awk 'NR == FNR { own[$1]; next } $7 in own && $8 ~ /^@/ { print "abstract", $8 }' inodes /proc/net/unix
    awk 'NR == FNR { own[$1]; next } $4 == "0A" && $10 in own { print "tcp", $2 }' inodes /proc/net/tcp
}
attack 'agents on the machine of the broker listen at no address that another user can reach' '
    open_doors >doors && test -s inodes && test_must_be_empty doors
'
attack 'the client program with the socket and the id of the victim'\''s job runs nothing' '
    denied env FLUXQ_JOB_ID=$job FLUXQ_AGENT_SOCKET=$BROKER_STATE/jobs/$job/clients-0 SLURM_JOB_ID=$job timeout 20 fluxq-run touch "$attacker/ran" &&
    test ! -e "$attacker/ran" &&
    ends --no-requeue -o /dev/null -- env FLUXQ_JOB_ID=$job FLUXQ_AGENT_SOCKET=$BROKER_STATE/jobs/$job/clients-0 timeout 20 "$FLUXQ_RUN/shell/fluxq-run" touch "$attacker/ran" &&
    test ! -e "$attacker/ran"
'
attack 'an agent of the attacker with the launch file of another job joins nothing' '
    denied timeout 20 fluxq-shell --launch "$BROKER_STATE/jobs/$job/launch-0" --key "$BROKER_STATE/jobs/$job/key-0" --rank 1 &&
    attacker sh -c "head -c 64 /dev/zero | tr \"\\0\" a >key; echo {} >launch" &&
    test_must_fail attacker timeout 20 fluxq-shell --launch launch --key key --rank 1
'
