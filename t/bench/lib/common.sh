# shellcheck shell=bash
# common.sh: shared functions of the benchmarks

say() {
    echo "bench: $*" >&2
}

die() {
    say "$*"
    exit 1
}

usage_error() {
    say "$* (see --help)"
    exit 2
}

show_help() {
    sed -n '2,/^set/{/^set/d;s/^# \{0,1\}//p;}' "$0"
    exit 0
}

now_ms() {
    echo $(($(date +%s%N) / 1000000))
}

calc() {
    awk "BEGIN { printf \"%.2f\", $1 }"
}

# wait_until SECONDS COMMAND...: tries 20 times a second; fails at the deadline
wait_until() {
    local deadline=$(($(now_ms) + $1 * 1000))
    shift
    until "$@" >/dev/null 2>&1; do
        (($(now_ms) < deadline)) || return 1
        sleep 0.05
    done
}

gone() {
    ! kill -0 "$1" 2>/dev/null
}

# end_process PID: ends a child of this shell; does nothing without one
end_process() {
    [ -n "$1" ] || return 0
    kill -TERM "$1" 2>/dev/null
    wait_until 20 gone "$1" || kill -KILL "$1" 2>/dev/null
    wait "$1" 2>/dev/null
}

find_programs() {
    local build=${FLUXQ_BUILD_DIR:-$TOP} variable
    [ -f "$build/Makefile" ] || build=$TOP/build
    [ -x "$build/src/broker/fluxqd" ] || die "nothing is built in $build (set FLUXQ_BUILD_DIR)"
    for variable in $(env | sed -n 's/^\(FLUXQ_[A-Z_]*\|SLURM_[A-Z_]*\|SBATCH_[A-Z_]*\)=.*/\1/p'); do
        case $variable in
        FLUXQ_KUBE_*) ;;
        *) unset "$variable" ;; # variables of the caller's shell must not act as options
        esac
    done
    PATH=$build/src/cmd:$build/src/broker:$build/src/shell:$PATH:/usr/sbin
    FACE=$build/src/cmd/slurm # Slurm's commands for fluxq; the real ones are in PATH
    export PATH
}

# field NAME "name=value ...": a value from the output of spawn and fdatasync
field() {
    printf '%s\n' "$2" | tr ' ' '\n' | sed -n "s/^$1=//p"
}

# row WHAT TARGET FLUXQ SLURM times|rates: the last argument says whether less or more is better
row() {
    local ratio=''
    if [ -n "$4" ] && [ -n "$3" ]; then
        case $5 in
        times) ratio="$(awk "BEGIN { printf \"%.1f\", $4 / $3 }") x" ;;
        rates) ratio="$(awk "BEGIN { printf \"%.1f\", $3 / $4 }") x" ;;
        esac
    fi
    ROWS+=("$1|$2|$3|${4:--}|${ratio:--}")
}

describe_machine() {
    echo "$(date +%F), $(nproc) CPUs ($(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -n 1))," \
        "Linux $(uname -r), $(findmnt -n -o FSTYPE -T "$WORK") in $PARENT," \
        "load $(cut -d ' ' -f 1 /proc/loadavg) ($LOAD before)"
    echo "$(fluxq --version): each submit is on disk (SQLite, WAL, synchronous=FULL) before it is answered"
    [ -z "$SLURM" ] || echo "$(sbatch --version): no accounting, $SLURM_CPUS CPUs; submits are answered from memory," \
        "the state is written and synced every 5 s"
    [ -z "$QUICK" ] || echo "--quick: too few of each for figures"
}

print_table() {
    local line
    describe_machine
    echo
    for line in "what|target|fluxq|slurm|better by" "${ROWS[@]}"; do
        printf '%s\n' "$line" | awk -F '|' '{ printf "%-58s %9s %10s %10s %10s\n", $1, $2, $3, $4, $5 }'
    done
}

LOAD=$(cut -d ' ' -f 1 /proc/loadavg)
