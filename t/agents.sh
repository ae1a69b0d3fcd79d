# shellcheck shell=sh
# agents.sh: shared functions of the tests of the agent (t2xxx), after lib.sh.
#
# The agents run directly, with launch files that the test writes. Each job has a directory; the test
# starts agents by their rank, keeps their process ids to wait for them, and ends them at the latest
# when the script ends.
#
#     make_job DIR NAME=VALUE...      key and launch file of a job with all its files in DIR
#     make_tree DIR RANKS FANOUT NAME=VALUE...   the same with nodes n0, n1, ... of one task each;
#                                     each rank has a socket of its own, sock-RANK
#     start_agent DIR RANK [OPTIONS]  starts an agent in the background; start_agents DIR FIRST LAST: several
#     end_of DIR RANK                 waits for the agent (20 s) and returns its exit status
#     run_job DIR RANKS               starts all and waits for all; fails unless all exit with 0
#     frames DIR                      a line for each frame of the spool
#     has_frame DIR PATTERN           true if a frame matches; has_text PATTERN FILE
#     finish_is DIR STATUS REASON [TEXT]   the last frame has these values, and its text contains TEXT
#     has_lines FILE N                the file has N lines
#     all_gone FILE                   all processes with an id in FILE, which the job wrote, are gone
#     request DIR METHOD TARGET       sends a signed request to rank 0; prints the answer's body
#     worker_of PID                   the guardian's child

PATH=$FLUXQ_BUILD_DIR/t/helper:$PATH
AGENTS=
# The id of an ended process may belong to another process by now.
end_agents()
{
    for pid in $AGENTS; do
        ! kill -0 "$pid" 2>/dev/null || [ "$(parent_of "$pid")" != $$ ] || kill -KILL "$pid" 2>/dev/null
    done
}
trap 'status=$?; end_agents; (exit $status); lib_finish' EXIT

make_job()
{
    dir=$PWD/$1
    shift
    mkdir "$dir" && launch-write key "$dir/key" &&
        launch-write launch "$dir/launch" cwd="$dir" "listen=unix:$dir/sock" \
            "rendezvous=unix:$dir/sock" "spool=$dir/spool" "$@"
}

make_tree()
{
    tree_name=$1 tree_ranks=$2 tree_fanout=$3
    shift 3
    for rank in $(seq 0 $((tree_ranks - 1))); do
        set -- "$@" "node=n$rank:1"
    done
    make_job "$tree_name" fanout="$tree_fanout" "listen=unix:$PWD/$tree_name/sock-%r" \
        "rendezvous=unix:$PWD/$tree_name/sock-%r" "$@"
}

start_agent()
{
    start_dir=$1 start_rank=$2
    shift 2
    # shellcheck disable=SC2086
    fluxq-shell --launch "$start_dir/launch" --key "$start_dir/key" --rank "$start_rank" "$@" \
        2>"$start_dir/log.$start_rank" &
    AGENTS="$AGENTS $!"
    echo $! >"$start_dir/pid.$start_rank"
}

start_agents()
{
    for rank in $(seq "$2" "$3"); do
        start_agent "$1" "$rank"
    done
}

end_of()
{
    wait_until 20 lib_gone "$(cat "$1/pid.$2")" || return 200
    wait "$(cat "$1/pid.$2")"
}

run_job()
{
    start_agents "$1" 0 $(($2 - 1))
    for rank in $(seq 0 $(($2 - 1))); do
        end_of "$1" "$rank" || return
    done
}

frames()
{
    launch-write frames "$1/spool"
}

finish_is()
{
    frames "$1" | tail -n 1 >"$1/finish" &&
        grep -q "^FINISH rank=0 status=$2 reason=$3 text=.*${4:-}" "$1/finish" || {
        frames "$1" | grep -v ^OUTPUT
        cat "$1"/log.*
        return 1
    }
}

has_text()
{
    grep -q -- "$1" "$2" 2>/dev/null
}

has_frame()
{
    frames "$1" 2>/dev/null | grep -q -- "$2"
}

has_lines()
{
    [ "$(cat "$1" 2>/dev/null | wc -l)" -eq "$2" ]
}

all_gone()
{
    [ -s "$1" ] || return
    while read -r pid; do
        lib_gone "$pid" || { echo "$pid lives"; return 1; }
    done <"$1"
}

request()
{
    request_socket=$1/sock
    [ -S "$request_socket" ] || request_socket=$1/sock-0
    launch-write request "$request_socket" "$1/key" "$2" "$3"
}

# Processes that end while this function looks are not an error.
worker_of()
{
    sed -n "s/^\([0-9]*\) (.*) [A-Z] $1 .*/\1/p" /proc/[0-9]*/stat 2>/dev/null || :
}
