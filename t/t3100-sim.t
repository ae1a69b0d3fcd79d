#!/bin/sh
test_description='fluxq-sim: traces, figures that were computed by hand, drawings, wrong input'
. "$(dirname "$0")/lib.sh"

traces=$FLUXQ_SOURCE_DIR/t/sim

# field NAME FILE: prints a number of the JSON object.
field()
{
    sed -n "s/^ *\"$1\": \(.*[^,]\),\{0,1\}$/\1/p" "$2"
}

# figures FILE NAME=VALUE...: each number has this value, to six digits.
figures()
{
    file=$1
    shift
    for pair; do
        value=$(field "${pair%%=*}" "$file")
        awk -v a="$value" -v b="${pair#*=}" 'BEGIN {
            d = a - b; exit !(a != "" && d < 1e-6 && d > -1e-6) }' || {
            echo "$pair is $value"
            return 1
        }
    done
}

# starts: prints "ID START END" of each job of jobs.out, on one line, by id.
starts()
{
    sed 's/.*"id":\([0-9]*\),.*"start":\([^,]*\),"end":\([^,]*\),.*/\1 \2 \3/' jobs.out |
        sort -n | paste -sd ',' -
}

# sim ARG...: runs fluxq-sim with figures in out and jobs in jobs.out.
sim()
{
    fluxq-sim --json --jobs jobs.out "$@" >out
}

# well_formed FILE: FILE is XML that a parser accepts, without scripts or links.
well_formed()
{
    python3 -c '
import sys, xml.dom.minidom
xml.dom.minidom.parse (sys.argv[1])' "$1" &&
        ! grep -iE "<script|href|onload|<!ENTITY" "$1"
}

test_expect_success '--help lists options, traces, policies and the form of a SPEC' '
    fluxq-sim --help >help &&
    for word in --cluster= --trace= --on-error= builtin:gangs builtin:mixed builtin:million \
        fcfs easy conservative hybrid lonode NODESxCORESc; do
        grep -F -e "$word" help || return 1
    done &&
    fluxq-sim --version | grep "^fluxq-sim [0-9]"
'

test_expect_success 'fluxq-sim(1) has exactly the options of --help' '
    fluxq-sim --help | sed -n "/^Options:/,/^\$/p" | grep -oE "^ +(-., )?--[a-z-]+" |
        sed "s/.*--/--/" | sort >options &&
    test "$(wc -l <options)" -ge 15 &&
    tr -d "\\\\" <"$FLUXQ_SOURCE_DIR/doc/man/fluxq-sim.1" | grep -A 1 "^\.TP" |
        grep -E "^\.BR? -" | grep -oE "\-\-[a-z-]+" | sort >tags &&
    test_cmp options tags
'

test_expect_success 'with easy short jobs start first and reserved jobs are not delayed, as computed by hand' '
    sim -c 4x1c -t $traces/backfill.jsonl -p easy &&
    test "$(starts)" = "1 0 100,2 100 150,3 2 92,4 150 180,5 92 97" &&
    figures out jobs=5 started=5 killed_by_limit=1 refused=0 elastic_starts=0 makespan=180 \
        lower_bound=156.25 utilization=0.868056 wait_mean=66.8 wait_p95=147 wait_max=147 \
        bounded_slowdown=4.036
'

test_expect_success 'with fcfs no job overtakes' '
    sim -c 4x1c -t $traces/backfill.jsonl -p fcfs &&
    test "$(starts)" = "1 0 100,2 100 150,3 150 240,4 150 180,5 150 155" &&
    figures out makespan=240 wait_mean=108 wait_max=148 utilization=0.651042
'

test_expect_success 'conservative delays no job, easy may delay the second pending job, and hybrid reserves to its depth' '
    sim -c 4x1c -t $traces/second.jsonl -p easy &&
    test "$(starts)" = "1 0 100,2 100 150,3 203 233,4 3 203" && figures out depth=1 &&
    sim -c 4x1c -t $traces/second.jsonl -p hybrid --depth 1 &&
    test "$(starts)" = "1 0 100,2 100 150,3 203 233,4 3 203" &&
    sim -c 4x1c -t $traces/second.jsonl -p conservative &&
    test "$(starts)" = "1 0 100,2 100 150,3 150 180,4 180 380" &&
    sim -c 4x1c -t $traces/second.jsonl -p hybrid --depth 2 &&
    test "$(starts)" = "1 0 100,2 100 150,3 150 180,4 180 380" && figures out depth=2
'

test_expect_success '--jobs prints the resources of each job' '
    sim -c 4x1c -t $traces/backfill.jsonl &&
    grep "\"id\":1,\"line\":1,.*\"nodes\":3,\"slots\":3,\"cores\":3,\"killed\":false,\"nodelist\":\"node\[1-3\]\"" \
        jobs.out &&
    grep "\"id\":5,\"line\":5,.*\"killed\":true,\"nodelist\":\"node4\"" jobs.out
'

test_expect_success 'SWF requests are used, or else used amounts, and partial and unstarted jobs are left out' '
    sim -c 1x8c -t $traces/small.swf &&
    test "$(starts)" = "1 0 60,2 0 30,3 90 140,4 30 90" &&
    figures out jobs=5 started=4 refused=1 left_out=2 killed_by_limit=1 makespan=140 broken_lines=0 &&
    fluxq-sim -c 1x8c -t $traces/small.swf >text &&
    grep "^Refused *1 .*job 5 (line 10): .*core" text
'

test_expect_success 'memory, GPUs and racks of the SPEC limit the jobs that fit' '
    cat >amounts.jsonl <<-END &&
	{"submit": 0, "runtime": 10, "memory": "3Gi"}
	{"submit": 0, "runtime": 10, "memory": "3Gi"}
	{"submit": 0, "runtime": 10, "gpus": 2}
	{"submit": 0, "runtime": 10, "gpus": 1}
	{"submit": 0, "runtime": 10, "gpus": 3}
	{"submit": 0, "runtime": 10, "nodes": 1, "exclusive": true}
	END
    sim -c 1x8c/4Gi/2g/r1 -t amounts.jsonl -p fcfs &&
    test "$(starts)" = "1 0 10,2 10 20,3 10 20,4 20 30,6 30 40" &&
    figures out refused=1 makespan=40
'

test_expect_success 'elastic jobs start smaller, and --speedup sets how much longer they run' '
    cat >elastic.jsonl <<-END &&
	{"submit": 0, "runtime": 100, "nodes": 3}
	{"submit": 0, "runtime": 40, "nodes": "1-4", "limit": 400}
	END
    sim -c 4x1c -t elastic.jsonl && test "$(starts)" = "1 0 100,2 0 160" &&
    figures out elastic_starts=1 makespan=160 lower_bound=115 &&
    sim -c 4x1c -t elastic.jsonl --speedup none && test "$(starts)" = "1 0 100,2 0 40" &&
    figures out elastic_starts=1 makespan=100
'

test_expect_success 'malleable jobs grow when no job waits and shrink when one does, and their work stays the same' '
    cat >malleable.jsonl <<-END &&
	{"submit": 0, "runtime": 100, "limit": 400, "nodes": 2, "slots": 1}
	{"submit": 0, "runtime": 100, "limit": 1000, "nodes": "1-4", "slots": 1}
	{"submit": 120, "runtime": 10, "limit": 10, "nodes": 3, "slots": 1}
	END
    sim -c 4x1c -t malleable.jsonl && test "$(starts)" = "1 0 100,2 0 200,3 200 210" &&
    sim -c 4x1c -t malleable.jsonl --malleable && cat out jobs.out &&
    figures out resizes=3 started=3 killed_by_limit=0 makespan=157.5 &&
    test "$(starts)" = "1 0 100,2 0 157.5,3 120 130"
'

test_expect_success '--elastic makes fixed sizes elastic, and lengthens their limits' '
    cat >rigid.jsonl <<-END &&
	{"submit": 0, "runtime": 100, "nodes": 3}
	{"submit": 0, "runtime": 40, "nodes": 4}
	END
    sim -c 4x1c -t rigid.jsonl && test "$(starts)" = "1 0 100,2 100 140" &&
    sim -c 4x1c -t rigid.jsonl --elastic 25 && test "$(starts)" = "1 0 100,2 0 160" &&
    figures out elastic_starts=1 killed_by_limit=0
'

test_expect_success 'priority takes precedence over the order of submits, and no job starts before its begin' '
    cat >order.jsonl <<-END &&
	{"submit": 0, "runtime": 10}
	{"submit": 1, "runtime": 10}
	{"submit": 2, "runtime": 10, "priority": 5}
	{"submit": 3, "runtime": 10, "begin": 100}
	END
    sim -c 1x1c -t order.jsonl && test "$(starts)" = "1 0 10,2 20 30,3 10 20,4 100 110" &&
    figures out wait_max=19
'

test_expect_success 'times count from the first submit, and jobs with run time 0 end at once' '
    cat >late.jsonl <<-END &&
	{"submit": 1700000000, "runtime": 0}
	{"submit": 1700000000, "runtime": 0}
	{"submit": 1700000005.5, "runtime": 2.25}
	END
    sim -c 1x1c -t late.jsonl && test "$(starts)" = "1 0 0,2 0 0,3 5.5 7.75" &&
    figures out makespan=7.75 lower_bound=7.75
'

test_expect_success 'one seed gives one result, and another seed another result' '
    for policy in fcfs easy hybrid; do
        fluxq-sim -t builtin:mixed -s 7 -p $policy --json | grep -v decisions_per_second >one &&
        fluxq-sim -t builtin:mixed -s 7 -p $policy --json | grep -v decisions_per_second >two &&
        test "$(field started one)" -eq 3000 && test_cmp one two || return 1
    done &&
    fluxq-sim -t builtin:mixed -s 8 -p hybrid --json | grep -v decisions_per_second >three &&
    test_must_fail test_cmp one three
'

test_expect_success 'the used cores never exceed the cluster, and no job starts before its submit' '
    for policy in fcfs easy hybrid; do
        sim -t builtin:mixed -p $policy && test "$(wc -l <jobs.out)" -eq 3000 &&
        sed "s/.*\"submit\":\([^,]*\),\"start\":\([^,]*\),\"end\":\([^,]*\),.*\"cores\":\([0-9]*\),.*/\1 \2 \3 \4/" \
            jobs.out >times &&
        awk "\$2 < \$1 || \$3 < \$2 { exit 1 }" times &&
        awk "{ print \$2, \$4; print \$3, -\$4 }" times | sort -k1,1g -k2,2g |
            awk "{ n += \$2; if (n > 4096 || n < 0) bad = 1; if (n > most) most = n }
                END { exit bad || most < 4000 || n != 0 }" || return 1
    done
'

test_expect_success 'all gangs run within 1.05 times the lower bound' '
    for policy in fcfs easy; do
        fluxq-sim --cluster 100x10c/10Gi --trace builtin:gangs --policy $policy --json >out &&
        figures out started=1000 refused=0 killed_by_limit=0 &&
        awk -v m="$(field makespan out)" -v b="$(field lower_bound out)" \
            "BEGIN { exit !(b > 3000 && m >= b && m <= 1.05 * b) }" || return 1
    done
'

test_expect_success 'backfill has shorter waits than first come, first served' '
    fluxq-sim -t builtin:mixed -p fcfs --json >fcfs &&
    fluxq-sim -t builtin:mixed -p easy --json >easy &&
    awk -v f="$(field wait_mean fcfs)" -v e="$(field wait_mean easy)" "BEGIN { exit !(e < f / 2) }"
'

test_expect_success 'drawings are well-formed for any name of the trace' '
    cp $traces/backfill.jsonl "a<b>&\"c.jsonl" &&
    fluxq-sim -c 4x1c -t "a<b>&\"c.jsonl" --plot plot.svg --gantt gantt.svg >text &&
    well_formed plot.svg && well_formed gantt.svg && grep -F "a&lt;b&gt;&amp;&quot;c" plot.svg &&
    test "$(grep -c "job [1-5]: " gantt.svg)" -eq 5 && grep "job 4: 150 s to 180 s" gantt.svg &&
    grep "Jobs that wait" plot.svg && test_must_fail grep "left out" gantt.svg
'

test_expect_success 'a drawing of many jobs tells which jobs are left out' '
    awk "BEGIN { for (i = 0; i < 20005; i++)
        printf \"{\\\"submit\\\":%d,\\\"runtime\\\":1,\\\"nodes\\\":1}\\n\", i }" >many.jsonl &&
    fluxq-sim -c 1x1c -t many.jsonl --gantt many.svg --plot many-plot.svg >text &&
    well_formed many.svg && well_formed many-plot.svg &&
    grep "5 jobs that start from 20000 s on are left out" many.svg &&
    test "$(wc -c <many-plot.svg)" -lt 100000
'

test_expect_success 'a broken line stops the simulation with file, line and reason' '
    test_expect_code 1 fluxq-sim -c 1x8c -t $traces/broken.swf >out 2>err && cat err &&
    test_must_be_empty out && test "$(wc -l <err)" -eq 1 &&
    grep "broken.swf:3: field 5 (processors): .four. is not a number" err &&
    test_expect_code 1 fluxq-sim -c 1x8c -t $traces/broken.jsonl 2>err && cat err &&
    grep "broken.jsonl:2: .*node" err
'

test_expect_success '--on-error skip ignores broken lines, names them and counts them' '
    sim -c 1x8c -t $traces/broken.swf --on-error skip 2>err && cat err &&
    figures out jobs=2 broken_lines=3 && test "$(wc -l <err)" -eq 3 &&
    grep "broken.swf:4: 5 fields, not 18" err && grep "broken.swf:6: field 8 .*-4" err &&
    sim -c 1x8c -t $traces/broken.jsonl --on-error skip 2>err && cat err &&
    figures out jobs=2 broken_lines=3 && grep "broken.jsonl:3: " err && grep "broken.jsonl:7: " err &&
    fluxq-sim -c 1x8c -t $traces/broken.jsonl --on-error skip 2>err | grep "3 broken lines"
'

test_expect_success 'thousands of broken lines are counted, and only some are printed' '
    awk "BEGIN { print \"{\\\"submit\\\":0,\\\"runtime\\\":1}\"; for (i = 0; i < 5000; i++) print \"x\" }" \
        >noise.jsonl &&
    sim -c 1x1c -t noise.jsonl --on-error skip 2>err && figures out broken_lines=5000 &&
    test "$(wc -l <err)" -le 10
'

test_expect_success 'random bytes as a trace are refused or skipped, and cause no crash' '
    head -c 300000 /dev/urandom >noise &&
    for kind in swf jsonl; do
        test_expect_code 1 fluxq-sim -c 1x1c -t $kind:noise 2>err && grep "noise:[0-9]*: " err &&
        test_expect_code 1 fluxq-sim -c 1x1c -t $kind:noise --on-error skip 2>err &&
        grep "noise: there is no job in it" err || return 1
    done
'

test_expect_success 'files that cannot be read or written give exit status 1 and the name' '
    fails() { test_expect_code 1 fluxq-sim -c 4x1c "$@" >out 2>err && cat err; } &&
    fails -t nowhere.swf | grep nowhere.swf && mkdir dir.swf && fails -t dir.swf | grep dir.swf &&
    fails -t builtin:nosuch | grep nosuch && fails -t noise | grep "swf:noise" &&
    for option in plot gantt jobs; do
        fails -t $traces/backfill.jsonl --$option no/such/dir | grep no/such/dir || return 1
    done &&
    test_expect_code 1 fluxq-sim -c 4x1c -t $traces/backfill.jsonl >/dev/full 2>err && grep figures err
'

test_expect_success 'an invalid SPEC exits with 2 and the place of the error' '
    for pair in 1:x10c 4:100 8:100x10cx 9:100x10c/10Qi 9:100x10c/ 9:100x10c+ 12:100x10c/4g/4g \
        1:2000000x1c; do
        test_expect_code 2 fluxq-sim -t builtin:gangs -c "${pair#*:}" 2>err && cat err &&
        grep -F "${pair#*:}" err && grep "character ${pair%%:*}: " err || return 1
    done
'

test_expect_success 'wrong usage exits with 2 and names the word' '
    refuse() { test_expect_code 2 fluxq-sim "$@" 2>err && cat err; } &&
    refuse | grep -e --trace && refuse -t x.swf | grep -e --cluster &&
    refuse -t builtin:gangs -p nosuch | grep nosuch && refuse -t builtin:gangs -P nosuch | grep nosuch &&
    refuse -t builtin:gangs -p easy -d 3 | grep -e --depth &&
    refuse -t builtin:gangs -p hybrid -d 0 | grep -e --depth &&
    refuse -t builtin:gangs --elastic 100 | grep -e --elastic &&
    refuse -t builtin:gangs --speedup cubic | grep cubic && refuse -t builtin:gangs -s x | grep -e --seed &&
    refuse -t builtin:nosuch | grep "builtin:nosuch.*no such trace" &&
    refuse -t builtin:gangs --on-error retry | grep retry && refuse -t builtin:gangs word | grep word &&
    refuse --nosuch | grep nosuch
'

test_expect_success 'records and event logs of fluxqd'\''s jobs are a valid trace' '
    start_broker &&
    fluxq-submit -n 2 -t 5 -- true && fluxq-submit -N 2 -t 5 -- true && fluxq-submit -t 5 --hold -- true &&
    wait_job_state 1 COMPLETED && wait_job_state 2 COMPLETED &&
    fluxq-submit -a 1-2 -t 5 -o /dev/null -- true && wait_job_state 4 COMPLETED &&
    fluxq-show job 1 2 3 4 4_1 4_2 --json >records.json &&
    for id in 1 2 4 4_1 4_2; do fluxq-show job $id --events --json || return 1; done >logs.json &&
    stop_broker &&
    sim -c 4x4c/4Gi -t records.json && figures out jobs=4 left_out=2 started=4 killed_by_limit=0 &&
    grep "\"id\":1,.*\"slots\":2," jobs.out && grep "\"id\":2,.*\"nodes\":2," jobs.out &&
    sim -c 4x4c/4Gi -t logs.json && figures out jobs=4 started=4 broken_lines=0 &&
    grep "\"id\":2,.*\"nodes\":2," jobs.out
'

test_done
