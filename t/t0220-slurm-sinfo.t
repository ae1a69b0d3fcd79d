#!/bin/sh
test_description='sinfo: the partitions, nodes, fields and words that programs read'
. "$(dirname "$0")/lib.sh"

PATH=$FLUXQ_BUILD_DIR/src/cmd/slurm:$PATH
for variable in $(env | sed -n 's/^\(SINFO_[A-Z0-9_]*\)=.*/\1/p'); do
    unset "$variable"
done
TZ=UTC && export TZ
cat >fluxq.yaml <<\END
local: {nodes: 4, cores: 2, memory: 1000Mi, gpus: 2, tmp: 50Mi}
queues:
  batch: {default: true}
  debug: {max-time: 1h, default-time: 600, max-nodes: 2, priority: 5}
END
start_broker --config fluxq.yaml

# says STATUS EXPECTED COMMAND...: the first line of stderr, and the exit status.
says()
{
    status=$1 && echo "$2" >wanted && shift 2 &&
    test_expect_code "$status" "$@" 2>err && head -n 1 err >first && test_cmp wanted first
}

# prints LINES COMMAND...: its whole output; LINES as in printf.
prints()
{
    printf "$1" >wanted && shift && "$@" >out && test_cmp wanted out
}

test_expect_success 'the default has the headings and widths of Slurm, and a line for each partition and state' '
    sinfo >out && cat out && cat >wanted <<-\END &&
	PARTITION AVAIL  TIMELIMIT  NODES  STATE NODELIST
	batch*       up   infinite      4   idle node[0-3]
	debug        up    1:00:00      4   idle node[0-3]
	END
    test_cmp wanted out && sed 1d wanted >body && sinfo -h >out && test_cmp body out
'

test_expect_success '-s counts nodes by use, -l has the date and more fields, -e a line for each size' '
    sinfo -s >out && cat >wanted <<-\END && test_cmp wanted out &&
	PARTITION AVAIL  TIMELIMIT   NODES(A/I/O/T) NODELIST
	batch*       up   infinite          0/4/0/4 node[0-3]
	debug        up    1:00:00          0/4/0/4 node[0-3]
	END
    sinfo --long >out && sed -n 1p out | grep -E "^[A-Z][a-z]+ [A-Z][a-z]+ [0-9]+ [0-9:]+ 20[0-9]+$" &&
    sed 1d out >rest && cat >wanted <<-\END && test_cmp wanted rest &&
	PARTITION AVAIL  TIMELIMIT   JOB_SIZE ROOT OVERSUBS     GROUPS  NODES       STATE RESERVATION NODELIST
	batch*       up   infinite 1-infinite   no       NO        all      4        idle             node[0-3]
	debug        up    1:00:00        1-2   no       NO        all      4        idle             node[0-3]
	END
    prints "2 4\n" sinfo -h -e -p batch -o "%c %D"
'

one=$(sbatch --parsable -w node0 -n 1 --gres=gpu:1 --mem=100 -o /dev/null --wrap 'sleep 1000')
two=$(sbatch --parsable -w node1 -n 2 -o /dev/null --wrap 'sleep 1000')
wait_job_state $one RUNNING
wait_job_state $two RUNNING
fluxq-ctl drain node1 --reason 'new disk'
fluxq-ctl drain node3 --reason 'no fan'

test_expect_success 'states: the short words in their order, and the long ones' '
    sinfo -h -p batch >out && cat >wanted <<-\END && test_cmp wanted out &&
	batch*       up   infinite      1   drng node1
	batch*       up   infinite      1  drain node3
	batch*       up   infinite      1    mix node0
	batch*       up   infinite      1   idle node2
	END
    prints "node0 mixed\nnode1 draining\nnode2 idle\nnode3 drained\n" sinfo -h -p batch -S N -o "%N %T" &&
    prints "mixed|allocated+drain|idle|idle+drain|\n" sh -c "sinfo -N -h -p batch -O statecomplete:0 | tr \"\n\" \"|\"; echo"
'

test_expect_success '--json has a line for each partition and kind of node, with the words of Slurm' '
    sinfo --json >out && jq -e "[.sinfo[] | select(.partition.name == \"batch\") | .nodes.nodes[0] + \":\" + (.node.state | join(\"+\"))] | sort ==
        [\"node0:MIXED\", \"node1:ALLOCATED+DRAIN\", \"node2:IDLE\", \"node3:IDLE+DRAIN\"]" out &&
    jq -e ".sinfo[] | select(.nodes.nodes == [\"node1\"] and .partition.name == \"batch\") | .reason.description == \"new disk\" and .cpus.allocated == .cpus.total" out &&
    sinfo --json -n node2 -p batch | jq -e "(.sinfo | length) == 1 and .sinfo[0].nodes.total == 1"
'

test_expect_success '-N has a line for each node and partition, sorted by name' '
    sinfo -N >out && cat >wanted <<-\END && test_cmp wanted out &&
	NODELIST   NODES PARTITION STATE 
	node0          1    batch* mix   
	node0          1     debug mix   
	node1          1    batch* drng  
	node1          1     debug drng  
	node2          1    batch* idle  
	node2          1     debug idle  
	node3          1    batch* drain 
	node3          1     debug drain 
	END
    sinfo -N -l -n node1 -p debug >out && sed -n 2,3p out >rest && cat >wanted <<-\END && test_cmp wanted rest
	NODELIST   NODES PARTITION       STATE CPUS    S:C:T MEMORY TMP_DISK WEIGHT AVAIL_FE REASON              
	node1          1     debug    draining 2       1:2:1   1000       50      1   (null) new disk            
	END
'

test_expect_success '-R lists why nodes are drained, once for all partitions' '
    sinfo -R >out && cat out && cat >wanted <<-\END &&
	REASON               USER      TIMESTAMP           NODELIST
	new disk             Unknown   Unknown             node1
	no fan               Unknown   Unknown             node3
	END
    sort wanted >a && sort out >b && test_cmp a b &&
    sinfo -R -l -h | grep -xE "new disk +Unknown +Unknown +drng +node1"
'

test_expect_success 'filters: -t in all forms, -n, -p, -d, -r; an unknown state is an error' '
    prints "node0\n" sinfo -h -p batch -t MIXED -o %N && prints "node[0,2]\n" sinfo -h -p batch -t idle,mix --states="mix,~drain" -o %N &&
    prints "node3\n" sinfo -N -h -p batch -t "idle&drain" -o %N && prints "node[1,3]\n" sinfo -h -t drain -o %N &&
    prints "node1\n" sinfo -h -t drng -o %N && prints "node3\n" sinfo -h -t DRAINED -o %N &&
    prints "node[0-1]\n" sinfo -h -t alloc -o %N && prints "node[0-3]\n" sinfo -h -t all -o %N &&
    prints "batch* n/a 0 \ndebug n/a 0 \n" sinfo -h -t down -o "%P %t %D %N" &&
    prints "" sinfo -h -N -t down && prints "" sinfo -h -d -N && prints "node[0-3]\n" sinfo -h -r -o %N &&
    prints "node2\n" sinfo -h -n "node[2,7]" -o %N && prints "" sinfo -h -p nosuch &&
    prints "debug\n" sinfo -h -p debug,x -o %P &&
    says 1 "sinfo: error: Bad state string: \"bogus\"" sinfo -t idle,bogus &&
    grep -E "^sinfo: error: valid states: unknown,down,idle,.*,drain,drained," err &&
    says 1 "sinfo: error: '\''node[1-'\'' invalid entry for --nodes" sinfo -n "node[1-"
'

test_expect_success 'what SkyPilot, TorchX, Snakemake and Toil read' '
    sinfo -h --Node -o "$(printf "%%N\037%%t\037%%G\037%%c\037%%m\037%%P")" | tr "\037" "|" >out &&
    test "$(sed -n 1p out)" = "node0|mix|gpu:2|2|1000|batch*" && test "$(wc -l <out)" -eq 8 &&
    prints "PARTITION,MEMORY\nbatch*,1000\ndebug,1000\n" sinfo --format %P,%m --noconvert &&
    prints "PARTITION\nbatch*\ndebug\n" sinfo -o %P &&
    prints "PARTITION GRES TIMELIMIT PRIO_TIER CPUS MEMORY\nbatch* gpu:2 infinite 1 2 1000\ndebug gpu:2 1:00:00 1 2 1000\n" sinfo -a -o "%P %G %l %p %c %m" &&
    sinfo --version | grep "^slurm [0-9]"
'

test_expect_success 'what Open OnDemand reads' '
    prints "2/1/1/4/3/3/2/8\n" sinfo -aho %F/%C &&
    sinfo -ahNO nodehost:100,gres:512,gresused:512,statelong >out && test "$(wc -l <out)" -eq 8 &&
    sed -n 1p out | grep -E "^node0 {95}gpu:2 {507}gpu:1 {507}mixed {15}$" &&
    sinfo -ho "$(printf "\036%%c\037%%n\037%%f")" | tr "\036\037" "<|" >out &&
    printf "<2|node%d|(null)\n" 0 1 2 3 >wanted && sort out >sorted && test_cmp wanted sorted
'

test_expect_success 'fields by letter and by name, with widths; unknown ones are named' '
    prints "ba*|batch*|batch|   batch*|\n" sinfo -h -p batch -t mix -o "%.3P|%P|%R|%.9P|" &&
    prints "debug 10:00 1:00:00 1-2 5 all no NO up\n" sinfo -h -p debug -s -o "%R %L %l %s %I %g %r %h %a" &&
    prints "50 1 (null) (null) N/A N/A N/A UNLIMITED OFF\n" sinfo -h -p batch -s -o "%d %w %f %b %e %O %V %B %M" &&
    prints "node0  x1:2:1   1 gpu:2\n" sinfo -h -N -p batch -n node0 -O "nodelist:6 x,socketcorethread:8,sockets:0 ,gres:0" &&
    prints "100\n" sinfo -h -N -p batch -n node0 -O allocmem:0 &&
    says 0 "Invalid node format specification: ?" sinfo -o "%P %?" &&
    says 0 "sinfo: error: Invalid job format specification: bogus" sinfo -O bogus,nodes &&
    test "$(sinfo --helpformat | wc -w)" -ge 38 && sinfo --helpFormat | grep -w StateCompact && sinfo --helpstate | grep -x idle &&
    test "$(sinfo -h -O all | sed -n 1p | tr -cd "|" | wc -c)" -eq "$(sinfo -h -o %all | sed -n 1p | tr -cd "|" | wc -c)"
'

test_expect_success '-S sorts, and an unknown letter is refused' '
    prints "node3\nnode2\nnode1\nnode0\n" sinfo -h -N -p batch -S -N -o %N &&
    prints "debug\nbatch\n" sinfo -h -S -P -o %R && prints "batch\ndebug\n" sinfo -h -S "#P" -o %R &&
    prints "idle\nmix\ndrain\ndrng\n" sinfo -h -p batch -S +t -o %t &&
    says 1 "sinfo: error: Invalid sort specification: q" sinfo -S q
'

test_expect_success 'variables stand for options' '
    prints "batch\ndebug\n" env SINFO_FORMAT=%R sinfo -h && prints "debug\n" env SINFO_PARTITION=debug SINFO_FORMAT=%R sinfo -h &&
    prints "batch\ndebug\n" env SINFO_PARTITION=debug SINFO_FORMAT=%R sinfo -h -a &&
    prints "debug\nbatch\n" env SINFO_SORT=-P SINFO_FORMAT=%R sinfo -h &&
    SINFO_FORMAT=%R sinfo -h -s | grep -E "^batch\* " &&
    says 1 "sinfo: error: Conflicting options, SINFO_ALL and SINFO_PARTITION, specified. Please choose one or the other." \
        env SINFO_ALL=1 SINFO_PARTITION=x sinfo
'

test_expect_success 'a stopped queue is down; reservations are listed, and their nodes are resv or maint' '
    fluxq-ctl queue stop debug && prints "batch up\ndebug down\n" sinfo -h -o "%R %a" && fluxq-ctl queue start debug &&
    prints "No reservations in the system\n" sinfo -T &&
    fluxq-ctl reserve --name talk --start now --duration 1:00:00 --nodes node2 --users "$(id -un)" &&
    wait_until 20 sh -c "sinfo -h -n node2 -o %t | grep resv" &&
    prints "talk reserved idle+reserved\n" sinfo -h -n node2 -O "reservation:0 ,statelong:0 ,statecomplete:0" &&
    sinfo -T >out && cat out && sed -n 1p out | grep -xE "RESV_NAME +STATE +START_TIME +END_TIME +DURATION  NODELIST" &&
    sed -n 2p out | grep -xE "talk +ACTIVE  20[-0-9]{8}T[:0-9]{8}  20[-0-9]{8}T[:0-9]{8} +01:00:00  node2" &&
    fluxq-ctl unreserve talk &&
    fluxq-ctl reserve --name mend --start now --duration 60 --nodes node2 --maintenance &&
    wait_until 20 sh -c "sinfo -h -n node2 -o %t | grep maint" &&
    prints "maint idle+maintenance+reserved 0/1/0/1\n" sinfo -h -n node2 -O "statecompact:0 ,statecomplete:0 ,nodeaiot:0"
'

test_expect_success 'options that fluxq does not have are refused; those without a difference are accepted' '
    says 1 "sinfo: error: --json=v1: not supported; use --json=v0.0.41" sinfo --json=v1 &&
    says 1 "sinfo: error: --yaml: not supported; use --json" sinfo --yaml &&
    sinfo -M fluxq -p batch -o %R >out && printf "CLUSTER: fluxq\nPARTITION\nbatch\n" | test_cmp - out &&
    test_expect_code 1 sinfo -M x 2>err && grep "^sinfo: error: .x. can.t be reached now, or it is an invalid entry for --clusters; there is one cluster, fluxq$" err &&
    says 1 "sinfo: error: -v: there is nothing more to print; remove the option" sinfo -v &&
    says 1 "sinfo: error: Conflicting options, -a and -p, specified. Please choose one or the other." sinfo -a -p batch &&
    says 1 "sinfo: error: Options -o(--format) and -l(--long) are mutually exclusive. Please remove one and retry." sinfo -l -o %P &&
    says 1 "sinfo: error: Error: invalid entry for --iterate=0" sinfo -i 0 &&
    sinfo --hide --local --federation -F -h >out && test -s out
'

test_expect_success '-i repeats the list until it is interrupted' '
    env --default-signal=INT sinfo -i 1 -o %R >out 2>err &
    pid=$! &&
    wait_until 20 sh -c "test \$(grep -c ^PARTITION out) -ge 2" &&
    kill -INT $pid && test_expect_code 130 wait $pid
'

test_done
