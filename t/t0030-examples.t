#!/bin/sh
# Users copy these examples first, so the examples must run unchanged.
test_description='the scripts of doc/examples run'
. "$(dirname "$0")/lib.sh"
examples=$FLUXQ_SOURCE_DIR/doc/examples

test_expect_success 'the broker starts' '
    start_broker
'

test_expect_success 'this test names every example' '
    for example in "$examples"/*; do
        grep -q "$(basename "$example")" "$FLUXQ_SOURCE_DIR/t/t0030-examples.t" || return 1
    done
'

test_expect_success 'hello.sh runs on two nodes and writes fluxq-ID.out' '
    id=$(fluxq-submit --wait "$examples/hello.sh") &&
    grep "hello from .*: job $id has 2 nodes: node\[" fluxq-$id.out &&
    grep "^done at ..:..:..$" fluxq-$id.out
'

for dialect in sbatch flux fluxq; do
    test_expect_success "dialect-$dialect.sh runs and writes to the file that it names" '
        id=$(fluxq-submit --wait "$examples/dialect-$dialect.sh") &&
        echo "dialect: 2 tasks on 2 nodes" >expected &&
        diff expected dialect-$id.out &&
        test ! -e fluxq-$id.out
    '
done

# dialect-sbatch.sh, dialect-flux.sh and dialect-fluxq.sh
test_expect_success 'the scripts of the three dialects give the same jobspec' '
    for dialect in sbatch flux fluxq; do
        fluxq-submit --dry-run --export=NONE "$examples/dialect-$dialect.sh" >$dialect.json &&
        jq -S "del(.attributes.system.files, .attributes.system.fluxq[\"script-path\"])" $dialect.json >$dialect.spec || return 1
    done &&
    jq -e ".attributes.system.duration == 300" fluxq.json &&
    diff sbatch.spec fluxq.spec &&
    diff flux.spec fluxq.spec
'

test_expect_success 'tasks.sh writes a file for each task' '
    id=$("$examples/tasks.sh") &&
    for task in 0 1 2 3; do
        echo "task $task of 4 on node$((task / 2))" >expected &&
        diff expected tasks-$id-$task.out || return 1
    done &&
    test ! -e tasks-$id-4.out
'

test_expect_success 'the second job of pipeline.sh reads the output of the first job' '
    echo "twice the last number is 200" >expected &&
    "$examples/pipeline.sh" >actual &&
    diff expected actual
'

command -v mpicc.mpich >/dev/null && test_set_prereq MPICH || echo "# no mpicc.mpich: apt-get install mpich libmpich-dev"

# As the guide describes, with pi.c in the directory of the job.
test_expect_success MPICH 'mpi.sh runs two steps in one job, and the second step is an MPI program' '
    mpicc.mpich -o pi "$examples/pi.c" && id=$(fluxq-submit --wait "$examples/mpi.sh") &&
    printf "%s\n" "0: step 0 on node0" "1: step 0 on node1" "pi is about 3.141593, say 4 tasks" >expected &&
    sort "pi-$id.out" >actual && diff expected actual
'

# Writes each script that a page shows with "$ cat NAME.sh" to a file of its own:
# NAME.PAGE.NUMBER.
shown_scripts()
{
    for page in "$FLUXQ_SOURCE_DIR"/doc/guide/*.md; do
        awk -v page="$(basename "$page" .md)" '
            !/^    / { file = ""; next }
            { line = substr ($0, 5) }
            line ~ /^\$ / { file = "" }
            file { print line >file }
            line ~ /^\$ cat [a-z0-9-]+\.sh$/ { file = substr (line, 7) "." page "." NR }' "$page"
    done
}

# Two of the scripts are for the login shell, or contain "...".
test_expect_success 'fluxq-submit accepts each script that the guide shows' '
    mkdir shown && cd shown && shown_scripts && cd .. && test "$(ls shown | wc -l)" -ge 15 &&
    for script in shown/*; do
        head -n 1 "$script" | grep -q "^#!" && fluxq-submit --dry-run --export=NONE "$script" >spec ||
            { echo "$script" && return 1; }
    done
'

test_expect_success 'pipeline.sh stops when the first job fails' '
    mkdir bin && printf "#!/bin/sh\nexit 3\n" >bin/seq && chmod +x bin/seq &&
    test_expect_code 3 env PATH="$PWD/bin:$PATH" "$examples/pipeline.sh" >actual &&
    test ! -s actual
'

test_done
