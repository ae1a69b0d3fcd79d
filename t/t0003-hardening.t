#!/bin/sh
test_description='the programs are built so that a fault in them is hard to exploit'
. "$(dirname "$0")/lib.sh"

AGENT=$FLUXQ_BUILD_DIR/src/shell/fluxq-shell

# setting NAME: the value of NAME in the configured Makefile.
setting()
{
    sed -n "s/^$1 = *//p" "$FLUXQ_BUILD_DIR/Makefile"
}

# look FILE: writes the output of readelf for FILE to the file report.
look()
{
    LC_ALL=C readelf -W -h -l -d --dyn-syms "$1" >report && echo "$1"
}

# The program loads at a random address, has no code on the stack, and has tables of addresses
# that are read-only before main().
is_sealed()
{
    grep "^ *Type: *DYN" report &&
    grep "^ *GNU_RELRO" report &&
    grep "^ *GNU_STACK .* RW " report
}

test_expect_success 'broker, commands and tools have PIE, full RELRO, no executable stack, stack protector, FORTIFY' '
    for program in broker/fluxqd cmd/fluxq tools/fluxq-match tools/fluxq-sim; do
        look "$FLUXQ_BUILD_DIR/src/$program" && is_sealed && grep "BIND_NOW" report || return 1
        case $(setting SAFE_CFLAGS) in
        *-fsanitize*) ;; # sees more than these
        *) grep -q " __stack_chk_fail" report || return 1 ;;
        esac
        case $(setting SAFE_CPPFLAGS) in
        *-D_FORTIFY_SOURCE*) grep -q " __[a-z]*printf_chk" report || return 1 ;;
        esac
    done
'

test_expect_success 'the agent is a static PIE without a loader, with RELRO, no executable stack, at most 512 KiB' '
    look "$AGENT" && is_sealed && test_must_fail grep "INTERP\|NEEDED" report &&
    test $(stat -c %s "$AGENT") -le 524288
'

# The start file of musl relocates the agent, and musl 1.2.3 leaves the pages writable.
relro_is_readonly()
{
    base=$(sed -n '/fluxq-shell$/{s/-.*//p;q}' "/proc/$1/maps") &&
    at=$(sed -n 's/^ *GNU_RELRO *[^ ]* *\([^ ]*\) .*/\1/p' report) &&
    page=$(printf '%x' $(((0x$base + at) / $(getconf PAGESIZE) * $(getconf PAGESIZE)))) &&
    grep "^0*$page-[^ ]* r--p" "/proc/$1/maps"
}

test_expect_success 'a running agent cannot write to its tables of addresses' '
    look "$AGENT" && mkfifo input && { "$AGENT" --receive "$PWD/file" --size 1 <input & } && pid=$! &&
    exec 8>input && wait_until 20 grep -q fluxq-shell "/proc/$pid/maps" &&
    wait_until 20 relro_is_readonly $pid &&
    exec 8>&- && test_expect_code 1 wait $pid
'

# The agent has no symbols left, so the test compiles a faulty program with the compiler and
# flags of the agent.
test_expect_success 'with the flags of the agent, a function that writes past its buffer does not return' '
    cat >overrun.c <<-\EOF &&
	#include <string.h>
	#include <unistd.h>
	static void __attribute__ ((noinline)) copy (const char *from, unsigned long size)
	{
	    char to[16];
	    for (unsigned long i = 0; i < size; i++)
	        to[i] = from[i % 8];
	    __asm__ volatile ("" : : "r" (to) : "memory");
	}
	void __stack_chk_fail (void);
	void __stack_chk_fail (void)
	{
	    _exit (9);
	}
	int main (int argc, char *argv[])
	{
	    copy ("aaaaaaaa", argc > 1 ? strlen (argv[1]) : 0);
	    _exit (7);
	}
	EOF
    make -s -C "$FLUXQ_BUILD_DIR" --no-print-directory \
        --eval="show-agent: ; @echo \$(MUSL_CC) \$(AGENT_CFLAGS) -D_GNU_SOURCE -o \$(TO) \$(FROM) \$(AGENT_LDFLAGS)" \
        FROM=overrun.c TO=overrun show-agent | tail -n 1 >command && cat command &&
    sh -e ./command &&
    test_expect_code 7 ./overrun && test_expect_code 7 ./overrun 1234567890123456 &&
    test_expect_code 9 ./overrun "$(printf "%0100d" 0)"
'
test_expect_success 'with FORTIFY of the agent, a call that would write past an object ends the process first' '
    setting AGENT_CPPFLAGS | grep "include [^ ]*/src/shell/fortify.h" &&
    cat >fortified.c <<-\EOF &&
	static char from[100];
	static void __attribute__ ((noinline)) put (char kind, unsigned long n)
	{
	    char to[16];
	    switch (kind) {
	    case 65: memcpy (to, from, n); break;
	    case 66: memmove (to, from, n); break;
	    case 67: memset (to, 1, n); break;
	    case 68: snprintf (to, n, "x"); break;
	    case 69: (void)!read (0, to, n); break;
	    case 70: recv (0, to, n, 0); break;
	    }
	    __asm__ volatile ("" : : "r" (to) : "memory");
	}
	int main (int argc, char *argv[])
	{
	    put (argv[1][0], strlen (argv[2]));
	    _exit (7);
	}
	EOF
    make -s -C "$FLUXQ_BUILD_DIR" --no-print-directory \
        --eval="show-agent: ; @echo \$(MUSL_CC) \$(AGENT_CFLAGS) -D_GNU_SOURCE -include $FLUXQ_SOURCE_DIR/src/shell/fortify.h -o fortified fortified.c \$(AGENT_LDFLAGS)" \
        show-agent | tail -n 1 >command && cat command && sh -e ./command &&
    for kind in A B C D E F; do
        test_expect_code 7 ./fortified $kind 1234567890123456 </dev/null &&
        test_expect_code 132 ./fortified $kind 12345678901234567 </dev/null || return 1
    done
'

# unit NAME...: checks the unit with these drop-ins below root/; an unknown setting is an error.
unit()
{
    rm -rf root && mkdir -p root/etc/systemd/system/fluxqd.service.d &&
    cp "$FLUXQ_BUILD_DIR/etc/fluxqd.service" "$FLUXQ_BUILD_DIR/etc/fluxq-launch@.service" \
        "$FLUXQ_SOURCE_DIR/etc/fluxq-launch.socket" root/etc/systemd/system &&
    for name in "$@"; do cp "$name" root/etc/systemd/system/fluxqd.service.d || return 1; done
    systemd-analyze verify --root="$PWD/root" fluxqd.service 2>said
    test -s said && test_must_fail grep "ignoring\|Unknown" said
}

command -v systemd-analyze >/dev/null && test_set_prereq SYSTEMD || echo "# no systemd-analyze: apt-get install systemd"
test_expect_success SYSTEMD 'systemd accepts the unit, and the unit for Kubernetes has a small exposure score' '
    unit && unit "$FLUXQ_SOURCE_DIR/etc/fluxqd-kube.conf" &&
    systemd-analyze security --offline=yes --root="$PWD/root" --threshold=45 fluxqd.service >report
'

test_expect_success SYSTEMD 'systemd accepts the units of a broker that is not root, whose exposure score is below 3' '
    unit "$FLUXQ_BUILD_DIR/etc/fluxqd-user.conf" &&
    systemd-analyze security --offline=yes --root="$PWD/root" --threshold=29 fluxqd.service >report
    status=$? && tail -n 1 report && test $status -eq 0 &&
    systemd-analyze verify --root="$PWD/root" fluxq-launch.socket fluxq-launch@1.service 2>said
    test_must_fail grep "ignoring\|Unknown" said
'

test_expect_success ROOT 'a job has nice 0 also if the broker has less' '
    start_broker && renice -n -5 -p $BROKER_PID && fluxq-submit --wait -o nice.out -- nice && test "$(cat nice.out)" = 0 &&
    stop_broker
'

fed()
{
    test "$(grep -c WATCHDOG=1 notes)" -gt "$1"
}

test_expect_success 'the loop tells systemd that it is ready, alive and stopping, and jobs do not inherit the address' '
    python3 -c "import socket
s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM); s.bind(\"$FLUXQ_RUN/notify\")
open(\"bound\", \"w\")
while True:
    text = s.recv(4096).decode(); print(text, file=open(\"notes\", \"a\"))
    if text == \"STOPPING=1\": break" & systemd=$! && wait_until 20 test -e bound &&
    NOTIFY_SOCKET=$FLUXQ_RUN/notify && WATCHDOG_USEC=300000 && export NOTIFY_SOCKET WATCHDOG_USEC &&
    start_broker && unset NOTIFY_SOCKET WATCHDOG_USEC &&
    wait_until 20 test -s notes && test "$(head -n 1 notes)" = READY=1 && wait_until 20 fed 3 &&
    fluxq-submit --wait --export NONE -o env.out -- env && test_must_fail grep "NOTIFY_SOCKET\|WATCHDOG" env.out &&
    tr "\0" "\n" </proc/$BROKER_PID/environ | grep NOTIFY_SOCKET && n=$(grep -c WATCHDOG=1 notes) && wait_until 20 fed $n &&
    stop_broker && wait $systemd && test "$(tail -n 1 notes)" = STOPPING=1
'

test_done
