#!/bin/sh
test_description='sprio: the terms of priorities, their weights, filters and orders'
. "$(dirname "$0")/lib.sh"

PATH=$FLUXQ_BUILD_DIR/src/cmd/slurm:$PATH
unset SPRIO_FORMAT
cat >fluxq.yaml <<\END
local: {nodes: 1, cores: 2, memory: 1000Mi}
queues:
  batch: {default: true}
  debug: {priority: 5}
priority: {queue: 100, age: 1000, size: 500, fair-share: 2000, age-max: 100d}
END
start_broker --config fluxq.yaml
blocker=$(sbatch --parsable -n 2 -o /dev/null --wrap 'sleep 1000')
wait_job_state $blocker RUNNING
one=$(sbatch --parsable -n 2 -o /dev/null --wrap true)
two=$(sbatch --parsable -n 2 -p debug --nice=7 -A physics -o /dev/null --wrap true)
three=$(sbatch --parsable -H -n 2 -o /dev/null --wrap true)
four=$(sbatch --parsable -d afterok:$one -n 2 -o /dev/null --wrap true)
five=$(sbatch --parsable --begin now+1hour -n 2 -o /dev/null --wrap true)
me=$(id -un)

test_expect_success 'the default has the terms with a weight, and jobs that may start' '
    sprio >out && cat out &&
    echo "          JOBID PARTITION   PRIORITY       SITE        AGE  FAIRSHARE    JOBSIZE  PARTITION" >wanted &&
    sed -n 1p out >head && test_cmp wanted head && sed 1d out >rest &&
    awk "{ print \$1, \$2, \$NF, \$(NF - 1) }" rest >got &&
    printf "$one batch 0 500\n$two debug 500 500\n" >wanted && test_cmp wanted got && sprio -h >out && test_cmp rest out
'

test_expect_success 'a priority is the sum of its terms less the nice value, and what the broker orders by' '
    sprio -h -o "%Y %S %A %B %F %J %P %Q %N" >out && cat out &&
    awk "{ sum = \$2 + \$3 + \$4 + \$5 + \$6 + \$7 + \$8 - \$9 } \$1 != sum { print; bad = 1 } END { exit bad || NR != 2 }" out &&
    sprio -h -j $two -o "%i %u %o %r %N %P %S" >out && echo "$two $me physics debug 7 500 160000000" >wanted && test_cmp wanted out &&
    sprio -h -o "%i %Y" >out && squeue -h -j $one,$two -S i -o "%i %Q" >wanted &&
    awk "{ getline line < \"wanted\"; split (line, w); if (w[1] != \$1 || (w[2] - \$2) ^ 2 > 4) exit 1 }" out
'

test_expect_success '-l has all terms, with -n as factors; -w has the weights' '
    sprio -l >out && cat >wanted <<-\END &&
	          JOBID PARTITION     USER  ACCOUNT   PRIORITY       SITE        AGE      ASSOC  FAIRSHARE    JOBSIZE  PARTITION    QOSNAME        QOS        NICE                 TRES
	END
    sed -n 1p out >head && test_cmp wanted head && test "$(wc -l <out)" -eq 3 &&
    sprio -n -h -o "%j %p %b %q" >out &&
    printf "1.0000000 0.0000000 0.0000000 0.0000000\n1.0000000 5.0000000 0.0000000 0.0000000\n" >wanted && test_cmp wanted out &&
    sprio -n >out && sed -n 1p out >head &&
    echo "          JOBID PARTITION PRIORITY   AGE        FAIRSHARE  JOBSIZE    PARTITION " >wanted && test_cmp wanted head &&
    sprio -h -w >out && echo "        Weights                               1       1000       2000        500        100" >wanted && test_cmp wanted out &&
    sprio -w -h -n -o "%i|%y|%a|%T|" >out && echo "Weights||1000||" >wanted && test_cmp wanted out
'

test_expect_success '-j, -p and -u choose jobs; others have no lines' '
    sprio -h -j $two,$one -o %i >out && printf "$one\n$two\n" >wanted && test_cmp wanted out &&
    sprio -h -j $two -o %i >out && echo $two >wanted && test_cmp wanted out &&
    sprio -h -p debug -o %i >out && test_cmp wanted out &&
    sprio -p nosuch -o %i >out && echo JOBID >wanted && test_cmp wanted out &&
    sprio -u $me >out && sed -n 1p out | grep "PARTITION     USER   PRIORITY" && test "$(wc -l <out)" -eq 3 &&
    sprio -h -u daemon >out && test_must_be_empty out &&
    sprio -h -u no-such-user >out 2>err && test_must_be_empty out && sed -n 1p err >first &&
    echo "sprio: error: Invalid user: no-such-user" >wanted && test_cmp wanted first &&
    sprio -j 999 >out && echo "Unable to find jobs matching user/id(s) specified" >wanted && test_cmp wanted out
'

test_expect_success '-S orders by letters, and SPRIO_FORMAT stands for -o' '
    sprio -h -S -i -o %i >out && printf "$two\n$one\n" >wanted && test_cmp wanted out &&
    sprio -h -S -P,i -o %i >out && test_cmp wanted out &&
    SPRIO_FORMAT="%i|%N" sprio -h -S N >out && printf "$one|0\n$two|7\n" >wanted && test_cmp wanted out
'

# refuses MESSAGE OPTION...
refuses()
{
    echo "sprio: error: $1" >wanted && shift &&
    test_expect_code 1 sprio "$@" >out 2>err && test_must_be_empty out && head -n 1 err >first && test_cmp wanted first
}

test_expect_success 'wrong words are refused as by Slurm' '
    refuses "Invalid job id: x" -j x && refuses "Invalid sort specification: x" -S x &&
    refuses "Unrecognized option: foo" foo && refuses "'"'"'x'"'"' can'"'"'t be reached now, or it is an invalid entry for --clusters; there is one cluster, fluxq" -M x && sprio -M fluxq &&
    refuses "-v: there is nothing more to print; remove the option" -v &&
    refuses "Options -o(--format) and -l(--long) are mutually exclusive. Please remove one and retry." -l -o %i &&
    sprio -h -o "%i %X" -j $one >out 2>err && grep -x "sprio: error: Invalid job format specification: X" err
'

test_done
