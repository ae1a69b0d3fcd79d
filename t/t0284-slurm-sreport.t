#!/bin/sh
test_description='sreport: what the jobs of a period used, by account, user and size'
. "$(dirname "$0")/lib.sh"

PATH=$FLUXQ_BUILD_DIR/src/cmd/slurm:$PATH
TZ=UTC && export TZ
unset SLURM_TIME_FORMAT
cat >fluxq.yaml <<\END
cluster-id: phys
local: {nodes: 2, cores: 4, memory: 1000Mi, gpus: 1}
queues:
  batch: {default: true}
END
start_broker --config fluxq.yaml
me=$(id -un)
one=$(sbatch --parsable -A physics -n 4 -t 10 -o /dev/null --wrap 'sleep 2')
two=$(sbatch --parsable -n 1 --gres=gpu:1 -o /dev/null --wrap 'sleep 1000')
wait_job_state $one COMPLETED
wait_job_state $two RUNNING
sleep 1
period="start=now-1hour end=now"

# prints LINES COMMAND...: its whole output; LINES as in printf.
prints()
{
    printf "$1" >wanted && shift && "$@" >out && test_cmp wanted out
}

# fails LINE COMMAND...: exit status 1, nothing on stdout, the line first on stderr.
fails()
{
    echo "$1" >wanted && shift && test_expect_code 1 "$@" >out 2>err && test_must_be_empty out &&
    head -n 1 err >first && test_cmp wanted first
}

test_expect_success 'headings have the words of Slurm; without a period it is yesterday' '
    line=--------------------------------------------------------------------------------
    yesterday=$(date -d yesterday +%Y-%m-%d) &&
    sreport cluster utilization >out && cat >wanted <<-END && test_cmp wanted out &&
	$line
	Cluster Utilization ${yesterday}T00:00:00 - ${yesterday}T23:59:59
	Usage reported in CPU Minutes
	$line
	  Cluster    Allocated       Down  PLND Down         Idle   Planned     Reported 
	--------- ------------ ---------- ---------- ------------ --------- ------------ 
	     phys            0                              11520                  11520 
	END
    sreport -t percent -P user top start=2020-01-01 end=2020-01-02 >out && cat >wanted <<-END && test_cmp wanted out &&
	$line
	Top 10 Users 2020-01-01T00:00:00 - 2020-01-01T23:59:59 (86400 secs)
	Usage reported in Percentage of Total
	$line
	Cluster|Login|Proper Name|Account|Used|Energy
	END
    sreport job sizes start=2020-01-01 end=2020-01-02 >out && cat >wanted <<-END && test_cmp wanted out
	$line
	Job Sizes 2020-01-01T00:00:00 - 2020-01-01T23:59:59 (86400 secs)
	Time reported in Minutes
	$line
	  Cluster   Account     0-49 CPUs   50-249 CPUs  250-499 CPUs  500-999 CPUs  >= 1000 CPUs % of cluster 
	--------- --------- ------------- ------------- ------------- ------------- ------------- ------------ 
	END
'

test_expect_success 'the cluster: time of ended and running jobs, and the rest' '
    sreport -nP -t seconds cluster utilization $period >out && cat out &&
    awk -F"|" "{ exit !(\$1 == \"phys\" && \$2 >= 9 && \$3 == \"\" && \$2 + \$5 == \$7 && \$7 == 28800) }" out &&
    sreport -nP -t hours -T cpu,mem,node,gres/gpu cluster utilization $period format=tresname,trescount,reported >out &&
    printf "cpu|8|8\nmem|2000|2000\nnode|2|2\ngres/gpu|2|2\n" >wanted && test_cmp wanted out &&
    sreport -nP -t hourper cluster util $period format=rep >out && echo "8(100.00%)" >wanted && test_cmp wanted out &&
    sreport -np -t percent cluster utilization $period format=rep,cl >out && echo "100.00%|phys|" >wanted && test_cmp wanted out
'

test_expect_success 'accounts and users: sums of accounts, root with all, and the users of each' '
    sreport -nP -t seconds cluster AccountUtilizationByUser $period format=account,login,used >out && cat out &&
    cut -d"|" -f1,2 out >names && printf "root|\nroot|$me\nphysics|\nphysics|$me\n" >wanted && test_cmp wanted names &&
    awk -F"|" "{ n[NR] = \$3 } END { exit !(n[1] - n[2] - n[3] <= 1 && n[1] - n[2] - n[3] >= -1 && n[3] == n[4] && n[3] >= 8 && n[2] >= 1) }" out &&
    sreport -nP cluster account $period accounts=physics format=account,login >out && printf "physics|\nphysics|$me\n" >wanted && test_cmp wanted out &&
    sreport -nP cluster UserUtilizationByAccount $period format=login,account >out && printf "$me|root\n$me|physics\n" >wanted && test_cmp wanted out &&
    sreport -nP cluster account $period users=no-such-user >out && test_must_be_empty out
'

test_expect_success 'top users: each with accounts, or as one' '
    sreport -nP user top $period format=login,account topcount=1 >out && printf "$me|root\n$me|physics\n" >wanted && test_cmp wanted out &&
    sreport -nP user top $period format=login group >out && echo "$me" >wanted && test_cmp wanted out &&
    sreport -nP user top $period format=cluster,proper >out && test "$(wc -l <out)" -eq 2
'

test_expect_success 'sizes of jobs: of root, of accounts, other groups, counts' '
    sreport -nP job sizesbyaccount $period grouping=2,4 printjobcount >out && echo "phys|root|1|0|1|100.00%" >wanted && test_cmp wanted out &&
    sreport -nP job sizesbyaccount $period flatview printjobcount >out && printf "phys|root|2|0|0|0|0|100.00%%\nphys|physics|1|0|0|0|0|50.00%%\n" >wanted &&
    test_cmp wanted out && sreport -nP job sizes $period accounts=physics printjobcount format=account >out &&
    echo "physics|1|0|0|0|0|50.00%" >wanted && test_cmp wanted out &&
    sreport -P job sizes $period grouping=10 | sed -n 5p >out && echo "Cluster|Account|0-9 CPUs|>= 10 CPUs|% of cluster" >wanted && test_cmp wanted out
'

test_expect_success 'wrong words are refused with the way out' '
    fails "invalid keyword: nosuch" sreport nosuch && fails "sreport: error: too few arguments for keyword:cluster" sreport cluster &&
    test_expect_code 1 sreport cluster nosuch 2>err && grep "^sreport: error: Not valid report nosuch; there are: cluster AccountUtil" err &&
    fails " Unknown condition: nosuch=3" sreport cluster utilization nosuch=3 && fails " Unknown field ${quote:='"'"'}nosuch$quote" sreport user top format=nosuch &&
    fails "sreport: error: unknown time format nosuch" sreport -t nosuch cluster utilization &&
    fails "sreport: error: --tres=x: there are cpu, mem, node, gres/gpu" sreport --tres cpu,x cluster utilization &&
    fails "sreport: error: --tres=mem: sizes of jobs are counted in cpu only" sreport -T mem job sizes &&
    fails "sreport: error: the period ends before it starts" sreport cluster utilization start=2021-01-01 end=2020-01-01 &&
    fails "sreport: error: Invalid time specification (pos=0): x" sreport cluster utilization start=x &&
    fails "sreport: error: grouping=5,5: must be numbers of CPUs that rise" sreport job sizes grouping=5,5 &&
    fails "sreport: error: clusters=x: there is one cluster, phys" sreport cluster utilization clusters=x &&
    test_expect_code 1 sreport -M x cluster utilization 2>err && grep "there is one cluster, phys$" err && sreport -M all cluster utilization &&
    test_expect_code 1 sreport reservation utilization 2>err && grep "usage is not counted by reservation" err
'

test_expect_success 'strigger is refused, and says what to use' '
    for options in "--set --node --down --program=/bin/true" "--get" "--clear --id=3" "--set -j 7 --fini -p x"; do
        test_expect_code 1 strigger $options >out 2>err && test_must_be_empty out &&
        grep "^strigger: error: fluxq has no triggers: .*--dependency=afterany:ID.*--signal.*/v1/watch" err || return 1
    done && strigger --help >out && grep "no triggers" out
'

test_done
