#!/bin/sh
# t4020-gangs-bench.t: the benchmark of gangs, with few jobs and only fluxq. Needs root; about 2 minutes.
# The benchmark starts a cluster of 10 simulated nodes with the name of this suite.

test_description='gangs: 30 jobs of 10 pods at once on simulated nodes with room for five of them

A job that fails, does not end or stays half-started, a start that was given up, or an object that is left in
the cluster would fail this. The test does not check the speed.
'
. "$(dirname "$0")/lib.sh"

FLUXQ_KUBE_NAME=fluxqt$$ FLUXQ_KUBE_RUN=/tmp/fluxqt$$-kube
export FLUXQ_KUBE_NAME FLUXQ_KUBE_RUN
JOBS=30

# figure NAME VALUE: the result file has this line for NAME.
figure()
{
    grep -qx " \"$1\": $2,*" result/fluxq.json || { grep "^ \"$1\"" result/fluxq.json && false; }
}

test_expect_success 'the benchmark runs to its end and removes its cluster' '
    timeout 1200 "$FLUXQ_SOURCE_DIR/t/bench/kube" --only fluxq --jobs $JOBS --nodes 10 --pods 10 --factor 0.05 --patience 12 \
        --result result >table 2>progress || { cat progress && false; } &&
    ! [ -e "$FLUXQ_KUBE_RUN" ] && ! [ -e "/run/fluxq-kube/$FLUXQ_KUBE_NAME-kube" ]
'

test_expect_success 'the table has a column for fluxq' '
    cat table && grep -q "^completed / failed / not ended  *$JOBS / 0 / 0\$" table
'

test_expect_success 'all jobs have completed and none has failed' '
    figure completed $JOBS && figure failed 0 && figure unended 0
'

test_expect_success 'no job had to start twice' '
    figure restarted 0
'

test_expect_success 'no job is half-started at the end' '
    figure half_at_end 0
'

test_expect_success 'no object of a job is left in the cluster' '
    figure left "\[\]"
'

test_expect_success 'the output of all jobs is in their files' '
    figure outputs $JOBS
'

test_done
