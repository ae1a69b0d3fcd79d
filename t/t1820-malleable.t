#!/bin/sh
test_description='the scheduler gives idle nodes to malleable jobs, and takes nodes back for pending jobs'
. "$(dirname "$0")/lib.sh"
. "$FLUXQ_SOURCE_DIR/t/faults.sh"

shell=$FLUXQ_RUN/fluxq-shell
cp "$FLUXQ_BUILD_DIR/src/shell/fluxq-shell" "$shell"
cat >grow.yaml <<END
shell-path: $shell
grace: 1s
resize-grace: 2s
resize-interval: 1s
local: {nodes: 6, cores: 2, memory: 1Gi}
END

write_script hold.sh <<\END
#!/bin/sh
until [ -e "stop.$FLUXQ_JOB_ID" ]; do sleep 0.05; done
END

# Keeps all nodes busy for three seconds that the job had when a step began.
write_script busy.sh <<\END
#!/bin/sh
until [ -e "stop.$FLUXQ_JOB_ID" ]; do
    fluxq-run sh -c ': >"in.$FLUXQ_PROCID"; sleep 3' >/dev/null 2>&1
done
END

hold()
{
    fluxq-submit -o /dev/null -t 5 --exclusive "$@" ./hold.sh
}

end_job()
{
    touch "stop.$1" && wait_job_state "$1" COMPLETED
}

is_size()
{
    [ "$(job_field "$1" nodes)" = "$2" ] && [ "$(job_field "$1" resize)" = null ]
}

says()
{
    fluxq-show job "$1" | grep "$2"
}

start_broker --config grow.yaml

test_expect_success 'idle nodes are given to a malleable job' '
    other=$(hold -N 4) && wait_job_state $other RUNNING &&
    id=$(fluxq-submit -o /dev/null -t 5 --exclusive -N 1-6 --malleable ./busy.sh) && echo $id >id && wait_job_state $id RUNNING && is_size $id 2 &&
    end_job $other && wait_until 15 is_size $id 6 &&
    fluxq-show job $id --events >events && grep "resize .*by=scheduler" events && grep "nobody waits" events
'

test_expect_success 'a pending job gets the nodes that it needs from a malleable job, and its reason names that job' '
    id=$(cat id) && rm -f in.* && wait_until 15 test -e in.5 &&
    wait=$(hold -N 2) && echo $wait >wait &&
    wait_until 10 says $wait "waits for 2 nodes of malleable job $id" &&
    wait_job_state $wait RUNNING && is_size $id 4 &&
    more=$(hold -N 3) && wait_job_state $more RUNNING && is_size $id 1 && end_job $more
'

test_expect_success 'nodes that are free again are given to the malleable job again' '
    id=$(cat id) && wait_until 15 is_size $id 4 && end_job $(cat wait) && wait_until 15 is_size $id 6
'

test_expect_success 'nodes that would not let a pending job start are not taken' '
    id=$(cat id) && before=$(job_field $id resizes) &&
    big=$(fluxq-submit -o /dev/null -t 5 -N 6 --exclusive ./hold.sh) && sleep 2 &&
    test $(job_field $id resizes) = $before && is_size $id 6 && fluxq-cancel $big
'

test_expect_success 'the malleable job with the lowest priority gives nodes first' '
    id=$(cat id) && end_job $id &&
    high=$(hold -N 1-3 --malleable) && low=$(hold -N 1-3 --malleable --nice=1000) &&
    wait_job_state $high RUNNING && wait_job_state $low RUNNING && wait_until 15 is_size $high 3 && is_size $low 3 &&
    wait=$(hold -N 2) && wait_job_state $wait RUNNING && is_size $low 1 && is_size $high 3 &&
    more=$(hold -N 1) && wait_job_state $more RUNNING && is_size $low 1 && is_size $high 2 &&
    end_job $more && end_job $wait && end_job $low && end_job $high
'

test_expect_success 'a job with a size set by its user gets no idle nodes, but still gives nodes' '
    wait_until 20 nodes_free && id=$(hold -N 1-6 --malleable) && wait_job_state $id RUNNING && is_size $id 6 &&
    fluxq-ctl resize $id -N 4 && wait_until 10 is_size $id 4 && sleep 3 && is_size $id 4 &&
    wait=$(hold -N 3) && wait_job_state $wait RUNNING && is_size $id 3 && end_job $wait &&
    sleep 3 && is_size $id 3 && end_job $id
'

test_expect_success 'with "resize-grow: false" no idle nodes are given' '
    echo "resize-grow: false" >>grow.yaml && fluxq-ctl reload | grep resize-grow &&
    other=$(hold -N 4) && wait_job_state $other RUNNING &&
    id=$(hold -N 1-6 --malleable) && wait_job_state $id RUNNING && end_job $other && sleep 3 && is_size $id 2 &&
    end_job $id && wait_until 20 none_active && nodes_free && stop_broker
'

test_done
