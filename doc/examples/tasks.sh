#!/bin/sh
# For the login shell, not for fluxq-submit: a command that runs once for each of four tasks on two
# nodes, and each task's output in a file of its own. %j is the job's id, %t the task's number.
fluxq-submit --wait -N 2 -n 4 -o 'tasks-%j-%t.out' -- \
    sh -c 'echo "task $FLUXQ_PROCID of $FLUXQ_NTASKS on $FLUXQ_NODENAME"'
