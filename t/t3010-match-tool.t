#!/bin/sh
test_description='fluxq-match: options, commands, ids, times and errors, in a pipe and on a terminal'
. "$(dirname "$0")/lib.sh"

HOME=$PWD
export HOME
unset XDG_STATE_HOME

# Two nodes of four cores.
cat >two.json <<'END'
{"version": 1, "execution": {"R_lite": [{"rank": "0-1", "children": {"core": "0-3"}}],
 "starttime": 0, "expiration": 0, "nodelist": ["n[0-1]"]}}
END

# jobspec FILE NODES DURATION: writes a jobspec to FILE.
jobspec()
{
    cat >"$1" <<END
version: 9999
resources: [{type: node, count: $2, with: [{type: slot, label: s, count: 1, with: [{type: core, count: 4}]}]}]
tasks: [{command: [app], slot: s, count: {per_slot: 1}}]
attributes: {system: {duration: $3}}
END
}
jobspec one.yaml 1 10
jobspec both.yaml 2 10
jobspec three.yaml 3 10

# session [OPTION]...: runs the commands of stdin.
session()
{
    fluxq-match -L two.json -f rv1exec "$@" >out 2>err
}

# infos WORD: prints the values of "INFO: WORD=..." lines on one line.
infos()
{
    sed -n "s/^INFO: $1=//p" out | paste -sd " " -
}

test_expect_success '--help lists options, formats, policies and subsystems' '
    fluxq-match --help >help &&
    for word in --load-file= --prune-filters= grug hwloc jgf rv1exec rv1_nosched simple \
        lonodex variation C+PA; do
        grep -F -e "$word" help || return 1
    done &&
    fluxq-match --version | grep "^fluxq-match [0-9]"
'

test_expect_success 'wrong usage exits with 2 and names the word' '
    refuse() { test_expect_code 2 fluxq-match "$@" </dev/null 2>err && cat err; } &&
    refuse | grep -e --load-file && refuse -L two.json -f nosuch | grep nosuch &&
    refuse -L two.json -F nosuch | grep nosuch && refuse -L two.json -P nosuch | grep nosuch &&
    refuse -L two.json -P "policy=low node_centric=maybe" | grep maybe &&
    refuse -L two.json -P node_centric=true | grep policy= &&
    refuse -L two.json -S nosuch | grep nosuch && refuse -L two.json -T nosuch | grep nosuch &&
    refuse -L two.json -g nosuch | grep nosuch && refuse -L two.json -p core | grep core &&
    refuse -L two.json -p ALL:core, | grep comma && refuse -L two.json -r many | grep many &&
    refuse -L two.json --nosuch | grep nosuch && refuse -L two.json word | grep word
'

test_expect_success 'a missing or broken graph exits with 1' '
    test_expect_code 1 fluxq-match -L nowhere.json -f jgf </dev/null 2>err && grep nowhere.json err &&
    echo "{" >broken.json &&
    for format in grug hwloc jgf jgf_shorthand rv1exec; do
        test_expect_code 1 fluxq-match -L broken.json -f $format </dev/null 2>err &&
        cat err && grep broken.json err && test "$(wc -l <err)" -eq 1 || return 1
    done &&
    test_expect_code 1 fluxq-match -L two.json -f rv1exec -S C+PA </dev/null 2>err && grep power err &&
    test_expect_code 1 fluxq-match -L two.json -f rv1exec -t no/such/dir </dev/null 2>err &&
    grep no/such/dir err
'

test_expect_success 'a session ends at quit, and at the end of input' '
    printf "quit\ncat one.yaml\n" | session && test_must_be_empty out && test_must_be_empty err &&
    printf "cat one.yaml" | session && grep "Jobspec in one.yaml" out
'

test_expect_success 'an unknown command is ignored, and a command without its arguments is an error' '
    printf "frob\n\n  # comment\nfind\nmatch allocate\ninfo 1 2\n" | session && test_must_be_empty out &&
    test "$(wc -l <err)" -eq 3 && test "$(grep -c "^ERROR: malformed command: .* usage " err)" -eq 3
'

test_expect_success 'allocate, reserve and cancel give ids, times and results until the graph is full' '
    printf "%s\n" "match allocate one.yaml" "m allocate one.yaml" "m allocate one.yaml" \
        "m allocate_orelse_reserve both.yaml" "m allocate_orelse_reserve one.yaml" \
        "m allocate_with_satisfiability one.yaml" "m allocate_with_satisfiability three.yaml" \
        "m satisfiability both.yaml" "m satisfiability three.yaml" \
        "m without_allocating one.yaml" "m without_allocating_future one.yaml" \
        "cancel 4" "m without_allocating_future one.yaml" "list" "c 99" | session &&
    test "$(infos JOBID)" = "1 2 3 4 5 6 7 8 8 8" &&
    test "$(infos RESOURCES)" = "ALLOCATED ALLOCATED RESERVED RESERVED MATCHED MATCHED" &&
    test "$(infos "SCHEDULED AT")" = "Now Now 10 20 20 10" &&
    test "$(grep -c "No matching resources found" out)" -eq 4 &&
    test "$(grep -c "Unsatisfiable request" out)" -eq 2 &&
    test "$(grep -c " Satisfiable request" out)" -eq 1 &&
    test "$(sed -n "s/^INFO: \([0-9]*\), \([A-Z]*\), \([0-9]*\), \([a-z.]*\), .*/\1 \2 \3 \4/p" out |
        paste -sd , -)" = "1 ALLOCATED 0 one.yaml,2 ALLOCATED 0 one.yaml,4 CANCELED 10 both.yaml,5 RESERVED 20 one.yaml" &&
    grep "^cancel: ERROR: nonexistent job 99" err &&
    test "$(grep -c "^match_allocate: job [0-9]*: needs " err)" -eq 5
'

test_expect_success 'multi-match stops at the first jobspec that does not match' '
    echo "M allocate one.yaml three.yaml one.yaml" | session && test "$(infos JOBID)" = "1 2" &&
    test "$(infos RESOURCES)" = ALLOCATED
'

test_expect_success 'a fraction of a second rounds up, duration 0 means unlimited, and a duration beyond the graph is refused' '
    jobspec part.yaml 2 0.2 && jobspec ever.yaml 2 0 && jobspec long.yaml 1 4e9 &&
    printf "%s\n" "m allocate part.yaml" "m allocate_orelse_reserve ever.yaml" \
        "m allocate_orelse_reserve one.yaml" | session &&
    test "$(infos "SCHEDULED AT")" = "Now 1" && test "$(grep -c "No matching" out)" -eq 1 &&
    printf "m allocate long.yaml\nm allocate one.yaml\n" | session -F rv1_nosched &&
    grep "duration: .*longer" err && test "$(infos JOBID)" = "1 1"
'

test_expect_success 'a jobspec that cannot be read takes no id, and gives one line of error' '
    echo "{version: 1" >bad.yaml &&
    printf "m allocate bad.yaml\nm allocate nowhere.yaml\nm allocate one.yaml\nm frob one.yaml\n" |
        session && cat err && test "$(wc -l <err)" -eq 3 &&
    grep "Jobspec error for 1: bad.yaml:" err && grep "nowhere.yaml" err && grep "frob" err &&
    test "$(infos JOBID)" = "1 1" && test "$(infos RESOURCES)" = ALLOCATED
'

test_expect_success '-t has only the results, and -e prints times of each match' '
    printf "m allocate one.yaml\nm allocate three.yaml\nlist\nstat\n" | session -e -t results &&
    grep "^INFO: JOBID=1" results && test_must_fail grep "^INFO: JOBID" out &&
    grep "^INFO: 1, ALLOCATED" out && test_must_fail grep ", ALLOCATED" results &&
    test "$(grep -cE "^INFO: ELAPSE=[0-9.]+$" out)" -eq 1 &&
    test "$(grep -cE "^INFO: ELAPSE=[0-9.]+$" results)" -eq 1 &&
    test "$(grep -cE "^INFO: PARSE=[0-9.]+ DECIDE=[0-9.]+ WRITE=[0-9.]+$" out)" -eq 2 &&
    grep "^INFO: Vertex Count: 11$" out && grep "^INFO: Edge Count: 10$" out &&
    grep "^INFO: Num. of Jobs Matched: 1$" out && grep "^INFO: Bookings: 1$" out &&
    grep "^INFO: Num. of Matches: 2$" out
'

test_expect_success 'a file that cannot be written is reported' '
    test -c /dev/full &&
    echo "m allocate one.yaml" | test_expect_code 1 session -t /dev/full && cat err && grep /dev/full err
'

test_expect_success 'a node that is down gets no job, and find lists the node' '
    printf "%s\n" "set-status /cluster0/n0 down" "get-status /cluster0/n0" "m allocate one.yaml" \
        "m allocate one.yaml" "f status=down" "t /cluster0/n0 up" "m allocate one.yaml" \
        "t /cluster0/n7 up" "t /cluster0/n0 away" | session && cat out err &&
    grep "^/cluster0/n0 is down$" out && test "$(infos RESOURCES)" = "ALLOCATED ALLOCATED" &&
    test "$(grep -c "No matching" out)" -eq 1 &&
    test "$(sed -n "/EXPRESSION/q; p" out | grep -c -- "--n0.1:x.")" -eq 1 &&
    grep "Could not find path /cluster0/n7" out && grep "unrecognized status" err
'

test_expect_success 'all three commands report a request that needs a down node as satisfiable' '
    printf "%s\n" "set-status /cluster0/n0 down" "m satisfiability both.yaml" "m allocate_with_satisfiability both.yaml" \
        "m allocate_orelse_reserve both.yaml" "set-status /cluster0/n1 down" "m satisfiability one.yaml" \
        "m allocate_with_satisfiability one.yaml" "m allocate_orelse_reserve one.yaml" | session && cat out err &&
    test "$(grep -c "Satisfiable request" out)" -eq 2 && test "$(grep -c "No matching" out)" -eq 4 &&
    test_must_fail grep Unsatisfiable out
'

test_expect_success 'properties can be set, shown and found, and find reports unknown terms' '
    printf "%s\n" "p /cluster0/n1 speed=3" "g /cluster0/n1" "g /cluster0/n0" "p /cluster0/n1 speed" \
        "find property=speed" "find colour=red" "find (status=up" "find status=sideways" | session &&
    cat out err && grep -x "speed=3" out && grep "No properties were found for /cluster0/n0" out &&
    grep "set-property <resource> PROPERTY=VALUE" out && grep "EXPRESSION=.property=speed" out &&
    grep -- "--n1" out && test_must_fail grep -- "--n0" out &&
    test "$(grep -c "invalid criteria" err)" -eq 3 && grep colour err && grep sideways err
'

test_expect_success 'an allocation can be printed, released in part, and booked again' '
    echo "m allocate both.yaml" | session -F rv1_nosched && sed -n 1p out >r.json && cat r.json &&
    sed "s/\"rank\": *\"0-1\"/\"rank\": \"1\"/; s/n\[0-1\]/n1/" r.json >half.json && cat half.json &&
    printf "%s\n" "update allocate rv1exec r.json 7 0 10" "u allocate rv1exec r.json 7 0 10" \
        "u allocate rv1exec r.json 8 0 10" "m allocate one.yaml" \
        "partial-cancel 7 rv1exec half.json stats" "m allocate one.yaml" "info 7" "info 70" | session &&
    cat out err && grep "^INFO: 7, ALLOCATED, 0, r.json" out && grep "existing Jobid 7" err &&
    test "$(infos RESOURCES)" = "ALLOCATED ALLOCATED" && test "$(infos JOBID)" = "7 8 9 10" &&
    test "$(infos "PARTIAL CANCEL RELEASED")" = "\"1\"" && grep "info: ERROR: nonexistent job 70" err
'

test_expect_success 'ranks and paths can be removed from the graph' '
    printf "%s\n" "m allocate one.yaml" "remove 0-1 frob" "remove 5 false" "remove /cluster0/n9 true" \
        "remove 0 false" "find status=up" "m allocate_with_satisfiability both.yaml" | session &&
    cat out err && test "$(grep -c "^ERROR: " err)" -eq 3 && grep "Unsatisfiable" out &&
    test "$(grep -c -- "--n0" out)" -eq 0 && test "$(grep -c -- "--n1" out)" -eq 2
'

test_expect_success 'the graph is drawn at the end of a session' '
    echo quit | session -o drawn && grep "^digraph" drawn.dot &&
    test "$(grep -c "label=\"core" drawn.dot)" -eq 8 && test "$(grep -c -- "->" drawn.dot)" -eq 10 &&
    echo quit | session -o drawn -g graphml &&
    python3 - <<-\END
	import xml.etree.ElementTree as t
	ns = "{http://graphml.graphdrawing.org/xmlns}"
	g = t.parse("drawn.graphml").getroot().find(ns + "graph")
	nodes = {n.get("id") for n in g.findall(ns + "node")}
	edges = g.findall(ns + "edge")
	assert len(nodes) == 11 and len(edges) == 10
	assert all(e.get("source") in nodes and e.get("target") in nodes for e in edges)
	END
'

test_expect_success 'help explains exactly the commands of the manual page' '
    echo help | session && sed -n "s/^INFO: \([a-z-]*\) (\([a-zA-Z]*\)).*/\1 \2/p" out | sort >table &&
    test "$(wc -l <table)" -ge 18 &&
    sed -n "/^.SH COMMANDS/,/^.SH RESULTS/p" "$FLUXQ_SOURCE_DIR/doc/man/fluxq-match.1" | tr -d "\\\\" |
        sed -n "s/^.BR \([a-z-]*\) \" (\" \([a-zA-Z]*\) .*/\1 \2/p" | sort >page && test_cmp table page &&
    printf "help m\nhelp frob\n" | session && test "$(grep -c "^INFO:" out)" -eq 1 && grep frob err
'

test_expect_success 'on a terminal there are a prompt, completion of all kinds of words, and a history' '
    cat >talk <<-\END &&
	expect fluxq-match> $
	send mat\t
	expect match $
	send allocate_o\t
	expect orelse_reserve $
	send one.y\t\n
	expect RESOURCES=ALLOCATED
	expect fluxq-match> $
	send get-st\t/clu\t/n0/co\t1\n
	expect /cluster0/n0/core1 is up
	send find sched-now=al\t\n
	expect EXPRESSION="sched-now=allocated"
	send frob\n
	expect frob: no such command
	send quit\n
	end
	END
    test_expect_code 0 python3 "$FLUXQ_SOURCE_DIR/t/helper/pty-talk.py" \
        fluxq-match -L two.json -f rv1exec <talk &&
    grep "^match allocate_orelse_reserve one.yaml" .local/state/fluxq/match-history &&
    test "$(stat -c %a .local/state/fluxq/match-history)" = 600
'

test_done
