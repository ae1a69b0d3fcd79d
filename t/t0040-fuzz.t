#!/bin/sh
test_description='the fuzz targets build, and the faults that they found stay fixed'
. "$(dirname "$0")/lib.sh"

# A copy of the sources, as the source tree may be read-only.
test_expect_success 'clang builds all fuzz targets' '
    mkdir tree && cp -r "$FLUXQ_SOURCE_DIR/src" "$FLUXQ_SOURCE_DIR/contrib" tree &&
    mkdir tree/t && cp -r "$FLUXQ_SOURCE_DIR/t/fuzz" tree/t &&
    rm -rf tree/t/fuzz/fuzz.out && make -s -j2 -C tree/t/fuzz all
'
test_expect_success 'each fuzz target passes its corpus and a bounded number of mutated inputs' '
    make -s -C tree/t/fuzz quick
'
test_done
