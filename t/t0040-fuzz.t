#!/bin/sh
test_description='the fuzz targets build, and the faults that they found stay fixed'
. "$(dirname "$0")/lib.sh"

# Seconds that each target runs (contrib/check --fuzz); default: 1000 inputs at most, the same each time.
seconds=${FLUXQ_FUZZ_SECONDS:-}

# A copy of the sources, as the source tree may be read-only.
test_expect_success 'clang builds all fuzz targets' '
    mkdir tree && cp -r "$FLUXQ_SOURCE_DIR/src" "$FLUXQ_SOURCE_DIR/contrib" "$FLUXQ_SOURCE_DIR/Makefile.am" tree &&
    mkdir tree/t && cp -r "$FLUXQ_SOURCE_DIR/t/fuzz" tree/t &&
    rm -rf tree/t/fuzz/fuzz.out && make -s -j2 -C tree/t/fuzz all
'
test_expect_success 'each fuzz target passes all files of its corpus' '
    make -s -k -j2 -C tree/t/fuzz regressions
'
test_expect_success 'each fuzz target passes inputs made from its corpus' '
    if [ -n "$seconds" ]; then
        make -s -k -j2 -C tree/t/fuzz smoke TIME="$seconds"
    else
        make -s -k -j2 -C tree/t/fuzz quick
    fi
'
test_expect_success 'the farm runs a target, keeps its new inputs and prints a table' '
    mkdir farm && mv tree/t/fuzz/fuzz.out farm/build && ln -s "$PWD/farm" "$FLUXQ_RUN/farm" &&
    tree/t/fuzz/farm --plain --corpus "$FLUXQ_RUN/farm" --jobs 1 --turn 1 0.0004 taskmap >table && cat table &&
    grep -E "^taskmap +[1-9][0-9]* +[1-9][0-9]* +- +0$" table && [ -n "$(ls farm/corpus/taskmap)" ]
'
test_expect_success 'a signal ends the farm and all its processes' '
    { tree/t/fuzz/farm --plain --corpus "$FLUXQ_RUN/farm" --jobs 2 1 taskmap idset >/dev/null 2>&1 & } && farm=$! &&
    runs() { pgrep -f "^$FLUXQ_RUN/farm/build/fuzz_" >/dev/null; } && wait_until 30 runs &&
    kill $farm && test_expect_code 143 wait $farm && ! runs
'
test_expect_success 'the farm refuses wrong usage' '
    test_expect_code 2 tree/t/fuzz/farm --corpus farm 1 2>err && grep blank err &&
    test_expect_code 2 tree/t/fuzz/farm x 2>err && grep HOURS err &&
    test_expect_code 2 tree/t/fuzz/farm 1 nonsense 2>err && grep nonsense err
'
test_done
