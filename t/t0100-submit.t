#!/bin/sh
test_description='fluxq-submit: one job for each call, from a script, stdin or a command, with clear errors'
. "$(dirname "$0")/lib.sh"

# refused CODE TEXT COMMAND...: COMMAND fails with exit status CODE, prints one line with TEXT
# (a regular expression) on stderr, and nothing on stdout. Wrong usage may add the line that
# points to --help.
refused()
{
    code=$1 text=$2
    shift 2
    test_expect_code "$code" "$@" >out 2>err &&
        test_must_be_empty out &&
        grep -E "$text" err &&
        grep -v "^Try '" err >lines
    if [ "$(wc -l <lines)" -ne 1 ]; then
        echo "not one line:" && cat err && return 1
    fi
}

# njobs: the number of jobs that the broker has ever had.
njobs()
{
    fluxq-queue --all --no-header -o id | wc -l
}

write_script args.sh <<'END'
#!/bin/sh
#SBATCH --job-name=fromscript --output=args-%j.out
echo "$FLUXQ_JOB_ID: $# $1 $2"
END

start_broker

test_expect_success 'fluxq-submit prints only the id on stdout, and ids count up' '
    fluxq-submit -o /dev/null -- true >one && fluxq-submit -o /dev/null -- true >two &&
    grep -qxE "[0-9]+" one && test "$(cat two)" -eq $(($(cat one) + 1)) && test "$(wc -l <one)" -eq 1
'

test_expect_success 'a script runs with its arguments, also with arguments that look like options' '
    id=$(fluxq-submit --wait args.sh -N "b c") &&
    echo "$id: 2 -N b c" >wanted && test_cmp wanted args-$id.out
'

test_expect_success 'fluxq-submit reads the script from stdin without an operand or with "-"' '
    id=$(fluxq-submit --wait <args.sh) && echo "$id: 0  " >wanted && test_cmp wanted args-$id.out &&
    id=$(fluxq-submit --wait - x y <args.sh) && echo "$id: 2 x y" >wanted &&
    test_cmp wanted args-$id.out
'

test_expect_success 'the words after -- are a command with its own options' '
    id=$(fluxq-submit --wait -o cmd-%j.out -- printf "%s|" --wait -n "a b") &&
    printf "%s|" --wait -n "a b" >wanted && test_cmp wanted cmd-$id.out
'

test_expect_success 'a job starts in the directory of its submit, by the path that the user took' '
    mkdir -p real && ln -sf real link &&
    (cd link && fluxq-submit --wait -- sh -c pwd >id && cat fluxq-$(cat id).out) >where &&
    echo "$PWD/link" >wanted && test_cmp wanted where
'

test_expect_success '--chdir sets the working directory, and the job knows the directory of its submit' '
    mkdir -p elsewhere &&
    fluxq-submit --wait -D elsewhere -o "$PWD/chdir.out" -- \
        sh -c "pwd; echo \$SLURM_SUBMIT_DIR; echo \$FLUXQ_SUBMIT_DIR" &&
    printf "%s\n" "$PWD/elsewhere" "$PWD" "$PWD" >want && test_cmp want chdir.out
'

test_expect_success '--wait exits with the status of the job, and with 128 + signal for a killed job' '
    fluxq-submit -o /dev/null --wait -- true >/dev/null &&
    test_expect_code 7 fluxq-submit -o /dev/null --wait -- sh -c "exit 7" >/dev/null 2>err &&
    grep -E "^fluxq-submit: job [0-9]+: FAILED" err &&
    test_expect_code 137 fluxq-submit -o /dev/null --wait -- sh -c "kill -9 \$\$" >/dev/null
'

test_expect_success '--wait of a cancelled job fails and prints the reason' '
    rm -f id
    fluxq-submit -o /dev/null --wait -- sleep 100 >id 2>err &
    submit=$! &&
    wait_until 10 test -s id &&
    wait_job_state $(cat id) RUNNING && fluxq-cancel $(cat id) &&
    test_must_fail wait $submit && grep CANCELLED err
'

test_expect_success 'an interrupted --wait exits with 130, the job goes on, and the message shows how to end the job' '
    rm -f id
    env --default-signal=INT fluxq-submit -o /dev/null --wait -- sleep 100 >id 2>err &
    submit=$! &&
    wait_until 10 test -s id && id=$(cat id) &&
    wait_job_state $id RUNNING && kill -INT $submit &&
    test_expect_code 130 wait $submit &&
    grep "job $id goes on; fluxq-cancel $id" err &&
    test "$(job_state $id)" = RUNNING && fluxq-cancel $id
'

test_expect_success '--dry-run shows the jobspec without a broker' '
    fluxq-submit --broker unix:///nonexistent/x --dry-run -N 2 -n 4 -t 5 -J name -- a "b c" >spec &&
    jq -e ".attributes.system | .duration == 300 and .job.name == \"name\"" spec &&
    jq -e ".tasks[0].command == [\"a\", \"b c\"]" spec &&
    jq -e "[.. | objects | select(.type? == \"node\") | .count] == [2]" spec
'

test_expect_success 'the command line overrides the environment, and the environment overrides the script' '
    FLUXQ_JOB_NAME=env fluxq-submit --dry-run args.sh | jq -e ".attributes.system.job.name == \"env\"" &&
    FLUXQ_JOB_NAME=env fluxq-submit --dry-run -J line args.sh |
        jq -e ".attributes.system.job.name == \"line\"" &&
    fluxq-submit --dry-run args.sh | jq -e ".attributes.system.job.name == \"fromscript\""
'

test_expect_success '--json prints the id, and with --wait also the result, for programs' '
    fluxq-submit --json -o /dev/null -- true | jq -e "keys == [\"id\"] and .id > 0" &&
    test_expect_code 3 fluxq-submit --json -o /dev/null --wait -- sh -c "exit 3" >lines 2>err &&
    test_must_be_empty err &&
    jq -s -e "length == 2 and .[0].id == .[1].id and .[1].exit_code == 3 and .[1].state == \"FAILED\"" lines
'

test_expect_success 'a job with --hold or --urgency 0 does not start before its release' '
    id=$(fluxq-submit --hold -o /dev/null -- true) &&
    fluxq-submit -o /dev/null --wait -- true &&
    test "$(job_state $id)" = PENDING && test "$(job_field $id urgency)" = 0 &&
    fluxq-ctl release $id && wait_job_state $id COMPLETED &&
    id=$(fluxq-submit --urgency 9 -o /dev/null -- true) && test "$(job_field $id urgency)" = 9
'

test_expect_success 'a directive after the first command is ignored and reported with its line' '
    write_script late.sh <<-\END &&
	#!/bin/sh
	#SBATCH -o /dev/null
	true
	#SBATCH -J late
	END
    id=$(fluxq-submit --wait late.sh 2>err) &&
    grep -E "^fluxq-submit: warning: late.sh:4: " err &&
    test "$(job_field $id name)" = late.sh
'

test_expect_success 'the dialects "# flux:" and "#FLUXQ" work, and #FLUXQ overrides directives of other dialects' '
    printf "#!/bin/sh\n# flux: -N2 --job-name=f\n" >flux.sh &&
    printf "#!/bin/sh\n#FLUXQ --nodes=2 -J own\n" >own.sh &&
    fluxq-submit --dry-run flux.sh | jq -e ".attributes.system.job.name == \"f\"" &&
    fluxq-submit --dry-run own.sh | jq -e ".attributes.system.job.name == \"own\"" &&
    printf "#!/bin/sh\n#FLUXQ -t 7 --stage-in=a\n#SBATCH -N2 -t 5\n" >two.sh &&
    fluxq-submit --dry-run two.sh | jq -e ".attributes.system.duration == 420" &&
    printf "#!/bin/sh\n#SBATCH -N1\n# flux: -N2\n" >two.sh && refused 1 "two.sh:3" fluxq-submit two.sh
'

test_expect_success '~ and $HOME in file names are refused with the reason' '
    for name in "~/out" "\$HOME/out" "\${HOME}/out"; do
        test_expect_code 2 fluxq-submit -o "$name" -- true 2>err && grep "no shell expands" err || return 1
        test_expect_code 2 fluxq-submit --chdir="$name" -- true 2>err && grep -e "--chdir: .*no shell expands" err || return 1
        test_expect_code 2 fluxq-submit --stage-in="$name" -- true 2>err && grep -e "--stage-in: .*no shell expands" err || return 1
        test_expect_code 2 fluxq-submit --stage-out="x:$name" -- true 2>err && grep "no shell expands" err || return 1
        test_expect_code 2 fluxq-run -o "$name" true 2>err && grep "no shell expands" err || return 1
        printf "#!/bin/sh\n#SBATCH -o %s\n" "$name" >home.sh && refused 1 "home.sh:2: -o" fluxq-submit home.sh || return 1
    done
'

test_expect_success '--explain says what becomes of each directive' '
    printf "#!/bin/sh\n#SBATCH -N2 --account=phys\n#SBATCH --nodes=3 -s\n#FLUXQ --comment=hi\n" >explain.sh &&
    FLUXQ_COMMENT=env fluxq-submit --explain explain.sh >out && cat out &&
    grep -x "explain.sh:2: -N 2: done" out && grep -x "explain.sh:2: --account phys: stored and shown" out &&
    grep -x "explain.sh:3: --nodes 3: done, after explain.sh:2: -N" out && grep "^explain.sh:3: -s: done: jobs share nodes" out &&
    grep -x "explain.sh:4: --comment hi: not used: FLUXQ_COMMENT has precedence" out && grep -x "FLUXQ_COMMENT env: done" out &&
    printf "#!/bin/sh\n#SBATCH -N2 --power=a\n" >explain.sh && test_expect_code 1 fluxq-submit --explain explain.sh >out 2>err &&
    grep -x "explain.sh:2: -N 2: done" out && grep "explain.sh:2: --power: .*does not support" err &&
    refused 2 "give one of them" fluxq-submit --explain --dry-run explain.sh
'

test_expect_success 'all errors in a script are reported, each with its line and the option to use instead' '
    printf "#!/bin/sh\n#SBATCH --prefer=a --power=b\n#SBATCH --malleable\n#FLUXQ --nodes=x\n" >many.sh &&
    test_expect_code 1 fluxq-submit many.sh 2>err && test "$(wc -l <err)" -eq 4 &&
    grep "many.sh:2: --prefer" err && grep "many.sh:2: --power" err &&
    grep "many.sh:3: --malleable.*write #FLUXQ --malleable" err && grep "many.sh:4: --nodes" err &&
    printf "#!/bin/sh\n#SBATCH --nosuch -Z 3 --power=b\n#FLUXQ --mincpus=2\n" >many.sh &&
    test_expect_code 1 fluxq-submit many.sh 2>err && test "$(wc -l <err)" -eq 4 && grep "many.sh:3: --mincpus.*--cpus-per-task" err
'

test_expect_success 'for an option of sbatch or another command the error names the option to use instead' '
    refused 2 "^fluxq-submit: --wrap: .*write -- COMMAND" fluxq-submit --wrap "echo hi" &&
    refused 2 "^fluxq-run: --wrap: .*write -- COMMAND" fluxq-run --wrap="echo hi" &&
    refused 2 "^fluxq-submit: --parsable: .*prints the id alone" fluxq-submit --parsable -- true &&
    refused 2 "^fluxq-submit: -L: .*remove it" fluxq-submit -L matlab -- true &&
    refused 2 "^fluxq-alloc: --nodefile: .*--nodelist" fluxq-alloc --nodefile=a &&
    refused 2 "^fluxq-submit: --pty: .*one of fluxq-run" fluxq-submit --pty bash &&
    refused 2 "^fluxq-queue: --array: .*one of fluxq-submit" fluxq-queue --array=1 &&
    refused 2 "^fluxq-submit: --nodes: needs a value" fluxq-submit --nodes
'

test_expect_success 'jobs select nodes by name and property, exclude nodes, and take the number of nodes that they ask for' '
    at() { id=$(fluxq-submit -o /dev/null "$@" -- true) && wait_job_state $id COMPLETED && job_field $id nodelist; } &&
    test "$(at -w node2)" = node2 && test "$(at -w "node[1,3]")" = "node[1,3]" && test "$(at -n 3 -w "node[1,3]")" = "node[1,3]" &&
    one=$(at -N 1 -w "node[1,3]") && { test $one = node1 || test $one = node3; } &&
    test "$(at -x "node[0-2]")" = node3 && test "$(at -C "not host:node[0,2-3]")" = node1 &&
    test "$(at --requires "host:node0 | rank:2" -x node0)" = node2 &&
    printf "#!/bin/sh\n#SBATCH -w node[0-1] --exclude=node2 -C host:node[0-2]\ntrue\n" >nodes.sh &&
    id=$(fluxq-submit -o /dev/null nodes.sh) && wait_job_state $id COMPLETED && test "$(job_field $id nodelist)" = "node[0-1]" &&
    test_expect_code 1 fluxq-submit -N 3 -w "node[1,3]" -- true 2>err && grep "names 2 nodes" err &&
    test_expect_code 1 fluxq-submit -w nosuch -- true 2>err && grep "allow none of the 4 nodes" err &&
    test_expect_code 2 fluxq-submit -C "a&(b" -- true 2>err && grep "^fluxq-submit: -C: .a&(b.: a .). is missing" err &&
    test_expect_code 2 fluxq-submit -w "node[1" -- true
'

before=$(njobs)

test_expect_success 'an unknown option is refused on the command line and in a script, there with its line' '
    refused 2 "^fluxq-submit: --nodse: unknown option .did you mean --nodes" fluxq-submit --nodse=2 -- true &&
    refused 2 "^fluxq-submit: -Z" fluxq-submit -Z -- true &&
    printf "#!/bin/sh\n#SBATCH -N 1\n#SBATCH --frobnicate=1\ntrue\n" >unknown.sh &&
    refused 1 "^fluxq-submit: unknown.sh:3: --frobnicate: " fluxq-submit unknown.sh &&
    refused 1 "^fluxq-submit: stdin:3: --frobnicate: " fluxq-submit - <unknown.sh
'

test_expect_success 'a file that is not a script is refused' '
    : >empty.sh && refused 1 "empty.sh: .*empty" fluxq-submit empty.sh &&
    refused 1 "stdin: .*empty" fluxq-submit </dev/null &&
    { echo "#!/bin/sh" && head -c 10485760 /dev/zero | tr "\0" "#"; } >large.sh &&
    refused 1 "large.sh: .*4 MiB" fluxq-submit large.sh &&
    refused 1 "stdin: .*4 MiB" fluxq-submit <large.sh && rm large.sh &&
    printf "#!/bin/sh\necho \0\n" >nul.sh && refused 1 "nul.sh:2: .*NUL" fluxq-submit nul.sh &&
    echo "echo hello" >bare.sh && refused 1 "bare.sh:1: .*#!" fluxq-submit bare.sh &&
    printf "#!/bin/sh\r\ntrue\r\n" >dos.sh && refused 1 "dos.sh:1: .*DOS" fluxq-submit dos.sh &&
    refused 1 "nowhere.sh: No such file" fluxq-submit nowhere.sh &&
    mkdir -p folder && refused 1 "folder: Is a directory" fluxq-submit folder
'

test_expect_success 'a script slightly below 4 MiB is accepted' '
    { printf "#!/bin/sh\n#SBATCH -o /dev/null\n" && head -c 4194000 /dev/zero | tr "\0" "#"; } >big.sh &&
    fluxq-submit --wait big.sh >/dev/null && rm big.sh
'

test_expect_success 'counts that are not positive integers are refused' '
    for n in 0 -1 9223372036854775808 99999999999999999999 x "" 1.5; do
        refused 2 "^fluxq-submit: -N: " fluxq-submit -N "$n" -- true &&
        refused 2 "^fluxq-submit: --ntasks: " fluxq-submit --ntasks="$n" -- true &&
        printf "#!/bin/sh\n#SBATCH --cpus-per-task=%s\n" "$n" >count.sh &&
        refused 1 "^fluxq-submit: count.sh:2: --cpus-per-task" fluxq-submit count.sh || return 1
    done &&
    refused 2 "^fluxq-submit: -N: .*minimum" fluxq-submit -N 4-2 -- true &&
    refused 2 "^fluxq-submit: FLUXQ_NODES: " env FLUXQ_NODES=0 fluxq-submit -- true &&
    refused 2 "^fluxq-submit: --urgency: " fluxq-submit --urgency 32 -- true &&
    refused 2 "^fluxq-submit: -t: " fluxq-submit -t yesterday -- true
'

test_expect_success 'a request for more than the machine has is refused' '
    refused 1 "^fluxq-submit: .*node" fluxq-submit -N 5 -- true &&
    refused 1 "^fluxq-submit: " fluxq-submit -c 1000 -- true &&
    refused 1 "^fluxq-submit: " fluxq-submit --mem 900T -- true &&
    refused 1 "^fluxq-submit: " fluxq-submit -G 1 -- true
'

test_expect_success '--allow-infeasible submits the job, and the job shows why it waits' '
    id=$(fluxq-submit --allow-infeasible -N 5 -o /dev/null -- true) &&
    test "$(job_state $id)" = PENDING && test -n "$(job_field $id reason_text)" && fluxq-cancel $id
'

test_expect_success 'an unknown queue is refused, and the error names the queue' '
    refused 1 "^fluxq-submit: .*nosuchqueue" fluxq-submit -q nosuchqueue -- true
'

test_expect_success 'contradictory options and a missing command are refused' '
    refused 2 "no command after --" fluxq-submit -N 1 -- &&
    refused 2 "dry-run" fluxq-submit --dry-run --wait -- true &&
    refused 2 "urgency" fluxq-submit --hold --urgency 3 -- true
'

test_expect_success 'refused submits create no job' '
    test "$(njobs)" -eq $((before + 2))
'

test_expect_success ROOT 'another user can submit, and the job runs as this user' '
    chmod 711 "$FLUXQ_RUN" &&
    id=$(cd / && setpriv --reuid=65534 --regid=65534 --clear-groups \
        fluxq-submit -o /dev/null --wait -- sh -c "test \$(id -u) = 65534") &&
    test "$(job_field $id userid)" = 65534
'

test_expect_success ROOT 'only operators set an urgency above 16' '
    (cd / && refused_as_user() { setpriv --reuid=65534 --regid=65534 --clear-groups "$@"; } &&
        test_expect_code 1 refused_as_user fluxq-submit --urgency 17 -- true) 2>err &&
    grep operator err
'

# A server that answers as told: "drop" reads a request and closes the connection without an
# answer; "busy" answers 503 with Retry-After: 1; "ok" answers with id 42. The server appends the
# Idempotency-Key of each request to the file keys.
cat >server.py <<'END'
import socket, sys
server = socket.socket(socket.AF_UNIX)
server.bind(sys.argv[1])
server.listen(8)
print("ready", flush=True)
for what in sys.argv[2:]:
    c, _ = server.accept()
    data = b""
    while b"\r\n\r\n" not in data:
        data += c.recv(65536)
    head, _, body = data.partition(b"\r\n\r\n")
    fields = dict(l.split(": ", 1) for l in head.decode().split("\r\n")[1:])
    while len(body) < int(fields["Content-Length"]):
        body += c.recv(65536)
    with open("keys", "a") as f:
        f.write(fields["Idempotency-Key"] + "\n")
    if what != "drop":
        text = b'{"id":42}' if what == "ok" else b'{"code":"busy","detail":"too busy"}'
        line = "201 Created" if what == "ok" else "503 Busy\r\nRetry-After: 1"
        c.sendall(b"HTTP/1.1 %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s"
                  % (line.encode(), len(text), text))
    c.close()
END

serve()
{
    rm -f keys ready "$FLUXQ_RUN/fake.sock"
    python3 server.py "$FLUXQ_RUN/fake.sock" "$@" >ready &
    server=$!
    wait_until 10 test -s ready
}

test_expect_success 'after a broken connection the submit is sent again with the same key' '
    serve drop drop ok &&
    test "$(fluxq-submit --broker unix://$FLUXQ_RUN/fake.sock -- true 2>err)" = 42 &&
    wait $server && test "$(wc -l <keys)" -eq 3 && test "$(sort -u keys | wc -l)" -eq 1 &&
    grep -xE "[0-9a-f]{32}" keys
'

test_expect_success 'two submits have two keys' '
    serve ok ok &&
    fluxq-submit --broker unix://$FLUXQ_RUN/fake.sock -- true &&
    fluxq-submit --broker unix://$FLUXQ_RUN/fake.sock -- true &&
    wait $server && test "$(sort -u keys | wc -l)" -eq 2
'

test_expect_success 'a submit is sent again after the time that a busy broker names' '
    serve busy ok &&
    test "$(fluxq-submit --broker unix://$FLUXQ_RUN/fake.sock -- true 2>err)" = 42 &&
    wait $server && test "$(wc -l <keys)" -eq 2
'

test_expect_success 'without an answer fluxq-submit reports that it waits, and fails at the end of --broker-wait' '
    serve drop &&
    test_expect_code 1 timeout 60 fluxq-submit --broker unix://$FLUXQ_RUN/fake.sock --broker-wait 3s -- true 2>err &&
    wait $server && grep "waiting for the broker until 20" err && tail -n 1 err | grep "no broker at" &&
    FLUXQ_BROKER_WAIT=0 test_expect_code 1 timeout 5 fluxq-queue --broker unix://$FLUXQ_RUN/fake.sock 2>err &&
    test_must_fail grep waiting err && FLUXQ_BROKER_WAIT=soon test_expect_code 1 fluxq-queue 2>err &&
    grep "FLUXQ_BROKER_WAIT: .soon." err && test_expect_code 2 fluxq-queue --broker-wait soon
'

test_expect_success 'without a broker socket the command fails at once and names the socket' '
    test_expect_code 1 fluxq-submit --broker unix:///nonexistent/f.sock -- true 2>err &&
    grep "/nonexistent/f.sock" err && test_must_fail grep waiting err
'

# A user id without any process, so that the command finds no broker of the developer.
test_expect_success ROOT 'without a broker at the default sockets the error lists the sockets and shows how to start a broker' '
    (cd / && unset FLUXQ_BROKER && export XDG_RUNTIME_DIR=/nonexistent &&
        test_expect_code 1 setpriv --reuid=61234 --regid=61234 --clear-groups fluxq-submit -- true) 2>err &&
    grep "/nonexistent/fluxq/fluxqd.sock" err && test_must_fail grep " /tmp/fluxq-[0-9]*/" err &&
    grep "/run/fluxq/fluxqd.sock" err && grep "fluxqd --local" err
'

test_expect_success 'a broker that is killed and restarted during a submit creates one job' '
    before=$(njobs) && rm -f id &&
    kill -STOP $BROKER_PID &&
    { fluxq-submit -o /dev/null -- true >id 2>err & } && submit=$! &&
    sleep 0.3 && # the command has sent its request, or will find no broker: both must end well
    kill_broker && start_broker &&
    wait $submit && grep -qxE "[0-9]+" id && wait_job_state $(cat id) COMPLETED &&
    test "$(njobs)" -eq $((before + 1))
'

# Commands of all kinds, also commands that change state; FLUXQ_BROKER_WAIT has its
# default of 60 s.
test_expect_success 'every command waits for a broker that restarts' '
    id=$(fluxq-submit --hold -o /dev/null -- true) && kill_broker && rm -f out.* &&
    { fluxq-queue --no-header -o %i -j $id >out.queue 2>err.queue & } && queue=$! &&
    { fluxq-show job $id >out.show 2>err.show & } && show=$! &&
    { fluxq-cancel $id >out.cancel 2>err.cancel & } && cancel=$! &&
    wait_until 20 grep "waiting for the broker until" err.queue && wait_until 20 grep "waiting for the broker until" err.cancel &&
    start_broker && wait $queue && wait $show && wait $cancel && grep -x $id out.queue && grep $id out.show &&
    wait_job_state $id CANCELLED &&
    stop_broker && { fluxq-info >out.info 2>err.info & } && info=$! &&
    wait_until 20 grep "waiting for the broker until" err.info && start_broker && wait $info && grep "node\[0-3\]" out.info
'

test_expect_success 'a command reports after some seconds that a stopped (SIGSTOP) broker does not answer' '
    kill -STOP $BROKER_PID && { fluxq-queue >out 2>err & } && queue=$! &&
    wait_until 30 grep "does not answer" err && kill -CONT $BROKER_PID && wait $queue
'

test_expect_success '--wait survives a restart of the broker' '
    rm -f id
    { fluxq-submit -o /dev/null --wait -- sh -c "while ! test -e \"$PWD/go\"; do sleep 0.1; done; exit 5" \
        >id 2>err & } && submit=$! &&
    wait_until 10 test -s id && wait_job_state $(cat id) RUNNING &&
    restart_broker && kill_broker && start_broker && : >go &&
    test_expect_code 5 wait $submit
'

test_expect_success 'for an error of the broker in the jobspec the message names the option as the user wrote it' '
    test_expect_code 1 fluxq-submit --malleable -- true 2>err && grep "^fluxq-submit: --malleable: needs several" err &&
    printf "#!/bin/sh\n#FLUXQ --malleable\n" >path.sh && test_expect_code 1 fluxq-submit path.sh 2>err &&
    grep "path.sh:2: --malleable: needs several" err && ! grep "jobspec\|attributes" err &&
    test_expect_code 1 env FLUXQ_MALLEABLE=1 fluxq-submit --test-only -- true 2>err &&
    grep "^fluxq-submit: FLUXQ_MALLEABLE: needs" err
'
test_expect_success 'submit warns about a missing directory, and the job may wait until the directory exists' '
    for option in -oabsent/%j.out -eabsent/x --stage-out=x:absent/x "-o$PWD/absent/%t"; do
        id=$(fluxq-submit --hold "$option" -- true 2>err) && test "$(wc -l <err)" -eq 1 && fluxq-cancel $id &&
        grep "warning: the directory $PWD/absent does not exist" err || return 1
    done &&
    id=$(fluxq-submit --hold -D /absent -- true 2>err) && fluxq-cancel $id && grep "warning: the directory /absent does not" err &&
    printf "#!/bin/sh\n#SBATCH -o absent/x\n" >absent.sh && id=$(fluxq-submit --hold absent.sh 2>err) && grep "directory $PWD/absent " err &&
    mkdir absent && fluxq-ctl release $id && wait_job_state $id COMPLETED &&
    for option in -oabsent/x -o%j/x -oabsent/%j/x -ox -o/dev/null -onone; do
        id=$(fluxq-submit --hold "$option" -- true 2>err) && fluxq-cancel $id && test_must_be_empty err || return 1
    done
'
test_expect_success 'a variable whose value is not UTF-8 arrives byte for byte' '
    id=$(ODD="$(printf "M\374ller \342\202")" fluxq-submit -o odd.out -- sh -c "printf %s \"\$ODD\"") &&
    wait_job_state $id COMPLETED && printf "M\374ller \342\202" >expected && cmp expected odd.out
'

test_expect_success 'a name in Latin-1 is refused as not UTF-8' '
    for option in -J -o -w -p -D -C --image= --stage-in=; do
        test_expect_code 2 fluxq-submit "$option$(printf "M\374ller")" -- true 2>err && grep -a "not UTF-8" err || return 1
    done
'

test_done
