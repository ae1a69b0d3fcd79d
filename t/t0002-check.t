#!/bin/sh
test_description='contrib/check: repeated runs, tests that run at the same time, and busy loops beside the tests'
. "$(dirname "$0")/lib.sh"

# A tree that has everything that contrib/check calls, and in which nothing is to be built. The
# one suite of the tree counts its runs and records the busy loops beside it. The unit tests of the
# tree have one name: the first and the second need each other, the second fails, the third ends in
# a way that stops xargs, and the last runs after the others.
marks=$FLUXQ_RUN/marks
mkdir -p tree/contrib tree/t "$marks"
cp "$FLUXQ_SOURCE_DIR/contrib/check" "$FLUXQ_SOURCE_DIR/contrib/run-suite" tree/contrib/
: >tree/contrib/packages
for name in contrib/install-packages autogen.sh; do
    echo 'exit 0' | write_script "tree/$name"
    sed -i '1i #!/bin/sh' "tree/$name"
done
write_script tree/configure <<'END'
#!/bin/sh
source=$(cd "$(dirname "$0")" && pwd)
for name in a b c d; do
    mkdir -p src/$name/test && cp "$source/contrib/unit-$name" src/$name/test/test_one
done 2>/dev/null
cat >Makefile <<MAKE
all build-tests:
	@:
list-unit-tests:
	@for name in a b c d; do echo src/\$\$name/test/test_one; done
dist:
	@mkdir -p fluxq-0 && cp $source/configure fluxq-0/ && tar czf fluxq-0.tar.gz fluxq-0
MAKE
END
write_script tree/contrib/unit-a <<'END'
#!/bin/sh
: >begun-a
for try in $(seq 400); do [ ! -e begun-b ] || break; sleep 0.05; done
[ ! -e begun-b ] || echo "ok 1 - beside the other"
echo 1..1
sleep 0.3
END
write_script tree/contrib/unit-b <<'END'
#!/bin/sh
: >begun-b
for try in $(seq 400); do [ ! -e begun-a ] || break; sleep 0.05; done
echo "not ok 1 - what b is for"
echo 1..1
exit 1
END
write_script tree/contrib/unit-c <<'END'
#!/bin/sh
exit 255
END
write_script tree/contrib/unit-d <<'END'
#!/bin/sh
echo "ok 1 - one"
echo "ok 2 - two"
echo 1..2
END
write_script tree/t/t0100-once.t <<'END'
#!/bin/sh
grep -lzsFx "FLUXQ_CHECK_MARK=$FLUXQ_CHECK_MARK" /proc/[0-9]*/environ | cut -d/ -f3 | while read -r pid; do
    [ "$(cut -d' ' -f19 "/proc/$pid/stat")" != 19 ] || echo "$pid"
done >"$TMPDIR/marks/$$"
[ ! -e "$TMPDIR/stop" ] || mv "$TMPDIR/stop" "$TMPDIR/stopped"
while [ -e "$TMPDIR/stopped" ]; do sleep 0.05; done
echo "ok 1 - once"
echo 1..1
END

check()
{
    rm -f "$marks"/*
    TMPDIR=$FLUXQ_RUN sh tree/contrib/check --system "$@" >out
}

# Starts contrib/check and returns when its suite runs; contrib/check goes on.
start_check()
{
    rm -f "$marks"/*
    : >"$FLUXQ_RUN/stop"
    TMPDIR=$FLUXQ_RUN sh tree/contrib/check --system "$@" >out 2>&1 &
    pid=$!
    wait_until 60 test -e "$FLUXQ_RUN/stopped"
}

# As many loops as CPUs were seen, and the loops are gone.
loops_seen()
{
    test "$(cat "$marks"/* | wc -l)" -eq "$(nproc)"
}
loops_gone()
{
    for loop in $(cat "$marks"/*); do
        lib_gone "$loop" || return 1
    done
}

test_expect_success '--times N runs the tests N times after one build and prints the total' '
    check --times 3 && cat out && tail -n 1 out | grep -x "3 passed, 0 failed" &&
    test "$(ls "$marks" | wc -l)" -eq 3 && test "$(grep -c "building with gcc" out)" -eq 1 &&
    test -z "$(cat "$marks"/*)"
'
test_expect_success '--busy runs a loop at nice 19 on each CPU beside the tests, and no loop remains' '
    check --busy && tail -n 1 out | grep -x "1 passed, 0 failed" && loops_seen && wait_until 10 loops_gone
'
for signal in TERM KILL; do
    test_expect_success "no loop of --busy remains after SIG$signal" '
        start_check --busy && loops_seen && kill -$signal $pid && { wait $pid || :; } &&
        wait_until 10 loops_gone && rm -f "$FLUXQ_RUN/stopped"
    '
done
test_expect_success 'two unit tests run at a time; each is counted by its path, in the order of the list' '
    test_expect_code 1 env TMPDIR=$FLUXQ_RUN sh tree/contrib/check --unit >out && sed "s/^/# /" out &&
    tail -n 1 out | grep -x "6 passed, 4 failed" &&
    sed -n "s/^---- \(src[^:]*: [0-9]* failed\).*/\1/p" out >failed &&
    for build in gcc sanitizers; do
        echo "src-b-test-test_one: 1 failed" && echo "src-c-test-test_one: 1 failed"
    done >expected && test_cmp expected failed
'
test_expect_success '--times refuses a value that is not a positive integer' '
    for number in "" x 0 -1 1x; do
        test_expect_code 2 check --times "$number" || return 1
    done && test_expect_code 2 check --times
'
test_done
