#!/bin/sh
# t1065-storm.t: a short storm of faults against one broker; t/storm has longer ones. About 75 seconds.
test_description='a storm: users and faults at once against one broker, checked by a model of the queue

A job that is lost, run twice, run before its dependency, given the core of another job or left behind would fail this.
The moments of the faults differ between runs; the seed fixes what happens, not when.
'
. "$(dirname "$0")/lib.sh"
storm=$FLUXQ_SOURCE_DIR/t/storm

test_expect_success 'the model accepts a good history and reports each rule that a bad one breaks' '
    python3 "$storm/test_model.py"
'
test_expect_success 'a storm of 60 s breaks no rule, and faults of many kinds have struck' '
    "$storm/run" --seconds 60 --seed 7 --dir "$PWD/storm" >said 2>&1 || { tail -n 60 said; tail -n 20 storm/fluxqd.log; false; } &&
    cat said && test "$(grep -o "faults: .*" said | tr , "\n" | wc -l)" -ge 10
'
test_done
