#!/bin/sh
test_description='the fuzz targets build, and what they have found before stays mended'
. "$(dirname "$0")/lib.sh"

# A copy of what is compiled, as the source tree may not be writable.
test_expect_success 'all targets build with clang' '
    mkdir tree && cp -r "$FLUXQ_SOURCE_DIR/src" "$FLUXQ_SOURCE_DIR/contrib" tree &&
    mkdir tree/t && cp -r "$FLUXQ_SOURCE_DIR/t/fuzz" tree/t &&
    rm -rf tree/t/fuzz/fuzz.out && make -s -j2 -C tree/t/fuzz all
'
test_expect_success 'each runs over its corpus and a bounded number of inputs made from it' '
    make -s -C tree/t/fuzz quick
'
test_done
