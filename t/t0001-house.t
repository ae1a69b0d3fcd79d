#!/bin/sh
test_description='the build checks its own rules: includes, banned functions, tables, release, install'
. "$(dirname "$0")/lib.sh"

# A copy of the tree that tests may spoil, configured in itself; without the products of an
# in-tree build.
(cd "$FLUXQ_SOURCE_DIR" && tar cf - --exclude=./.git --exclude=./build --exclude='*.[oa]' \
    --exclude='trash directory.*' --exclude=./config.status --exclude=./Makefile \
    --exclude=./t/test-results .) | (mkdir copy && tar xf - -C copy && chmod -R u+w copy)

check_includes()
{
    sh copy/contrib/check-includes copy >report 2>&1
}

# plant FILE TEXT: writes TEXT to FILE of the copy; FILE is removed when the test ends.
plant()
{
    mkdir -p "$(dirname "copy/$1")" &&
    printf '%s\n' "$2" >"copy/$1" &&
    test_when_finished "rm -f 'copy/$1'"
}

# refused FILE TEXT REASON: with TEXT the file breaks the law, and the report names the place.
refused()
{
    plant "$1" "/* a comment */
$2" &&
    test_expect_code 1 check_includes &&
    cat report &&
    grep "^$1:2: folder .* may not $3" report &&
    rm "copy/$1"
}

test_expect_success 'every system test is executable and can be run by its name' '
    for test in "$FLUXQ_SOURCE_DIR"/t/t[0-9]*.t; do
        test -x "$test" || { echo "$test is not executable"; return 1; }
    done
'

# contrib/check tests a copy of the tree and names the clone that it copied. A release has no git,
# and thus no such case.
checkout=${FLUXQ_CHECKOUT:-$FLUXQ_SOURCE_DIR}
if test -e "$checkout/.git"; then
    test_expect_success 'git has the folders of the tree alone, and no products of a build' '
        git -c "safe.directory=*" -C "$checkout" ls-files >files &&
        cut -d/ -f1 files | sort -u >roots &&
        printf "%s\n" .ci .clang-format .gitignore LICENSE Makefile.am README.md SECURITY.md autogen.sh \
            configure.ac contrib doc etc src t | LC_ALL=C sort >known &&
        LC_ALL=C sort -o roots roots && diff -u known roots &&
        ! grep -E "\.(o|a|so|lo|trs|log)$" files
    '
fi

# By this name contrib/check knows in a plain clone that the tests are skipped for a good reason.
test_expect_success 'unit tests that need the data of the peers have "shared" in their names' '
    (cd "$FLUXQ_SOURCE_DIR" && grep -rlE "FLUXQ_SHARED_DIR|shared_file" src --include="test_*.c") >tests &&
    while read -r test; do
        FLUXQ_SHARED_DIR=$PWD/none CMOCKA_MESSAGE_OUTPUT=TAP "$FLUXQ_BUILD_DIR/${test%.c}" >report 2>&1 &&
        awk "/# SKIP/ { n++ } /# SKIP/ && !/SKIP.*shared/ { print; bad = 1 } END { exit bad || !n }" report ||
        { echo "$test" && cat report && return 1; }
    done <tests
'

# unset_releases FILE...: prints variables that are released at the end of their block (macros.h, strbuf.h)
# and are not set before the first return or goto.
unset_releases()
{
    awk '
        /^[ \t]+auto(free|json|close) [^=(]*;/ { print FILENAME ":" FNR ": " $0 }
        /^[ \t]+autostrbuf struct strbuf [^=(]*;/ {
            text = $0
            sub(/.*struct strbuf /, "", text)
            sub(/;.*/, "", text)
            n = split(text, names, /, */)
            for (i = 1; i <= n; i++) open[names[i]]
            next
        }
        {
            for (name in open)
                if (index($0, "&" name))
                    delete open[name]
                else if ($0 ~ /(^|[^a-z_])(return|goto)[^a-z_]/) {
                    print FILENAME ":" FNR ": " name
                    delete open[name]
                }
        }
        /^}/ { delete open }' "$@"
}

test_expect_success 'variables that are released at the end of a function are set before the first return or goto' '
    (cd copy && find src t -name "*.c" | LC_ALL=C sort) >files && (cd copy && unset_releases $(cat ../files)) >found &&
    cat found && ! [ -s found ] &&
    printf "%s\n" "int f (bool b)" "{" "    autostrbuf struct strbuf one, two;" "    strbuf_init (&one, 1);" "    if (b)" \
        "        return 0;" "    strbuf_init (&two, 1);" "    autofree char *text;" "}" >bad.c &&
    unset_releases bad.c >found && printf "%s\n" "bad.c:6: two" "bad.c:8:     autofree char *text;" >expected &&
    test_cmp expected found
'

test_expect_success 'the sources keep the include law' '
    check_includes || { cat report && false; }
'

test_expect_success 'a folder may not include a folder that the law puts above it' '
    refused src/match/planted.c "#include \"sched/sched.h\"" "include sched" &&
    refused src/common/planted.h "#include \"jobspec/jobspec.h\"" "include jobspec" &&
    refused src/cmd/planted.c "#include \"broker/core/broker.h\"" "include broker" &&
    refused src/exec/local/planted.c "#  include \"broker/core/broker.h\"" "include broker" &&
    refused src/shell/planted.c "#include \"jobspec/jobspec.h\"" "include jobspec" &&
    refused src/job/test/planted.c "#include \"store/store.h\"" "include store" &&
    refused src/match/planner/planted.c "#include \"match/search/search.h\"" "include room match/search" &&
    refused src/match/graph/planted.c "#include \"match/index/index.h\"" "include room match/index"
'

test_expect_success 'the configuration, the core and the API of the broker do not include its services' '
    refused src/broker/config/planted.c "#include \"broker/core/broker.h\"" "include room broker/core" &&
    refused src/broker/config/planted.c "#include \"broker/api/privacy.h\"" "include room broker/api" &&
    refused src/broker/core/planted.c "#include \"broker/api/api.h\"" "include room broker/api" &&
    refused src/broker/core/planted.c "#include \"broker/services/submit/submit.h\"" "include room broker/services" &&
    refused src/broker/api/planted.c "#include \"broker/services/nodes/nodes.h\"" "include room broker/services" &&
    plant src/broker/services/planted.c "#include \"broker/api/api.h\"" && check_includes
'

test_expect_success 'only the core of the broker and unit tests see inside the broker and its jobs' '
    refused src/broker/services/planted.c "#include \"broker/core/inside.h\"" "include .*inside.h" &&
    refused src/broker/api/planted.c "#include \"broker/core/inside.h\"" "include .*inside.h" &&
    plant src/broker/core/planted.c "#include \"broker/core/inside.h\"" && check_includes &&
    plant src/broker/services/test/planted.c "#include \"broker/core/inside.h\"" && check_includes &&
    plant src/broker/services/planted.c "#include \"broker/core/broker.h\"
int peep (struct broker *b) { return b->stopping; }" &&
    test_must_fail gcc -std=gnu11 -D_GNU_SOURCE -I "$FLUXQ_BUILD_DIR" -Icopy/src -fsyntax-only copy/src/broker/services/planted.c 2>err &&
    grep "struct broker" err
'

test_expect_success 'a room may include only the rooms of its folder that the law names, and the law must name every room' '
    cp copy/contrib/include-law kept-law && test_when_finished "cp kept-law copy/contrib/include-law" &&
    printf "%s\n" "folder house: common" "room house/." "room house/attic: cellar ." "room house/cellar: ." \
        >>copy/contrib/include-law &&
    plant src/house/attic/planted.c "#include \"house/cellar/wine.h\"
#include \"house/house.h\"" && check_includes &&
    plant src/house/cellar/test/planted.c "#include \"house/attic/roof.h\"" && check_includes &&
    refused src/house/cellar/planted.c "#include \"house/attic/roof.h\"" \
        "include room house/attic .* from room house/cellar" &&
    refused src/house/planted.c "#include \"house/cellar/wine.h\"" "include room house/cellar" &&
    plant src/house/shed/planted.c "int shed;" &&
    test_expect_code 1 check_includes && grep "^src/house/shed/planted.c:1: room house/shed is not in" report
'

test_expect_success 'a room can have rooms of its own, and the law separates these in the same way' '
    cp copy/contrib/include-law kept-law && test_when_finished "cp kept-law copy/contrib/include-law" &&
    printf "%s\n" "folder house: common" "room house/." "room house/attic: ." "room house/cellar: ." \
        "room house/cellar/.: rack" "room house/cellar/rack:" >>copy/contrib/include-law &&
    plant src/house/cellar/planted.c "#include \"house/house.h\"
#include \"house/cellar/rack/wine.h\"" && check_includes &&
    refused src/house/cellar/rack/planted.c "#include \"house/cellar/cellar.h\"" \
        "include room house/cellar/. .* from room house/cellar/rack" &&
    refused src/house/cellar/rack/planted.c "#include \"house/attic/roof.h\"" \
        "include room house/attic .* from room house/cellar" &&
    refused src/house/attic/planted.c "#include \"house/cellar/rack/wine.h\"" \
        "include room house/cellar .* from room house/attic" &&
    plant src/house/cellar/shelf/planted.c "int shelf;" &&
    test_expect_code 1 check_includes &&
    grep "^src/house/cellar/shelf/planted.c:1: room house/cellar/shelf is not in" report
'

test_expect_success 'the law has no cycle of folders or rooms' '
    cp copy/contrib/include-law kept-law && test_when_finished "cp kept-law copy/contrib/include-law" &&
    printf "%s\n" "folder house: yard" "folder yard: lane common" "folder lane: house" \
        "room house/attic: cellar" "room house/cellar: ." "room house/.: attic" \
        "room house/cellar/rack: shelf" "room house/cellar/shelf: rack" "room house/cellar/.: rack shelf ." \
        >>copy/contrib/include-law &&
    test_expect_code 1 check_includes &&
    printf "contrib/include-law: a cycle: %s\n" "house yard lane house" \
        "house/attic house/cellar house/. house/attic" "house/cellar/rack house/cellar/shelf house/cellar/rack" >expected &&
    test_cmp expected report
'

test_expect_success 'the executors do not include each other, and their shared code includes no executor' '
    refused src/exec/local/planted.c "#include \"exec/kube/core/config.h\"" "include room exec/kube" &&
    refused src/exec/kube/core/planted.c "#include \"exec/local/local.h\"" "include room exec/local" &&
    refused src/exec/planted.c "#include \"exec/local/local.h\"" "include room exec/local"
'

# Slurm's commands have the option --local.
test_expect_success 'only an executor'\''s own folder names the executor' '
    for folder in copy/src/exec/*/local.mk; do
        name=$(basename "$(dirname "$folder")") &&
        find copy/src -name "*.[ch]" ! -path "*/test/*" ! -path "copy/src/exec/$name/*" ! -name table.c \
            ! -path "copy/src/cmd/slurm/*" -exec grep -n "\"$name\"" {} + && return 1
    done
    true
'

test_expect_success 'include paths are relative to src/' '
    refused src/match/planted.c "#include \"graph.h\"" "include \"graph.h\""
'

test_expect_success 'match, job and sched may use no clock, no threads, no input or output' '
    refused src/match/planted.c "#include <time.h>" "include <time.h>" &&
    refused src/job/planted.c "#include <pthread.h>" "include <pthread.h>" &&
    refused src/sched/planted.c "#include <unistd.h>" "include <unistd.h>" &&
    refused src/sched/policies/planted.c "#include <sys/socket.h>" "include <sys/socket.h>" &&
    refused src/match/planted.c "#include <uv.h>" "include <uv.h>" &&
    refused src/match/planted.c "void *f (void) { return fopen (\"x\", \"r\"); }" "call fopen" &&
    refused src/sched/planted.c "long t (void) { return time(NULL); }" "call time"
'

test_expect_success 'names in comments, strings, members and longer names do not count as calls' '
    plant src/sched/planted.c "/* fopen (x) and
time (y) */ // read (z)
const char *s = \"write (w)\"; int a = p->time (1) + q.open (2) + start_time (3);" &&
    check_includes
'

# A FIFO in a user's directory blocks a broker of root, and a symbolic link misleads the broker.
test_expect_success 'broker and executors open files that users can write only through one function' '
    refused src/exec/local/planted.c "int f (void) { return open (\"x\", 0); }" "call open" &&
    refused src/broker/planted.c "int f (void) { return lstat (\"x\", 0); }" "call lstat" &&
    refused src/exec/kube/planted.c "int f (void) { return agent_key_read (\"x\", 0); }" "call agent_key_read" &&
    sed "s/^opens /# &/" copy/contrib/include-law >law && mv copy/contrib/include-law kept &&
    mv law copy/contrib/include-law && test_when_finished "mv kept copy/contrib/include-law" &&
    test_expect_code 1 check_includes && grep "^src/broker/core/start.c:.* may not call mkdir" report &&
    sed -n "s/^opens \([^:]*\): .*/\1/p" kept | while read -r file; do
        grep -q "^$file:" report || { echo "$file is in the law in vain"; return 1; }
    done
'

test_expect_success 'a library is included only by the folders that the law allows' '
    refused src/exec/planted.c "#include <sqlite3.h>" "include <sqlite3.h>" &&
    refused src/cmd/planted.c "#include <curl/curl.h>" "include <curl/curl.h>" &&
    refused src/broker/planted.c "#include <munge.h>" "include <munge.h>" &&
    refused src/match/planted.c "#include <hwloc.h>" "include <hwloc.h>" &&
    refused src/match/writers/planted.c "#include <libxml/tree.h>" "include <libxml/tree.h>" &&
    refused src/shell/planted.c "#include <jansson.h>" "include <jansson.h>"
'

test_expect_success 'a folder that the law does not know is refused' '
    plant src/misc/planted.c "int misc;" &&
    test_expect_code 1 check_includes &&
    grep "^src/misc/planted.c:1: folder misc is not in" report
'

check_headings()
{
    sh copy/contrib/check-headings copy >report 2>&1
}

test_expect_success 'comments name only files and functions that exist' '
    check_headings || { cat report && false; }
'

test_expect_success 'a declaration under the heading of another file, and the name of a missing file, are refused' '
    plant src/match/planner/planted.h "/* planted.h - see gone.c */
/* -- claims.c: claims -- */
size_t planner_count (const struct planner *p);
/* -- planner.c -- */
size_t planner_count (const struct planner *p);" &&
    test_expect_code 1 check_headings &&
    printf "%s\n" "src/match/planner/planted.h:1: there is no gone.c" \
        "src/match/planner/planted.h:3: planner_count() is not defined in claims.c" >expected &&
    test_cmp expected report
'

test_expect_success 'a source that does not begin with a comment on its purpose is refused' '
    plant src/match/planted.c "int planted;" && test_expect_code 1 check_headings &&
    echo "src/match/planted.c:1: begins without a comment that says what it is for" >expected &&
    test_cmp expected report
'

test_expect_success 'a build in another directory works, also through a symbolic link' '
    test_when_finished "rm -rf copy/beside" && mkdir -p copy/beside far/away &&
    (cd copy/beside && ../configure -q) && ln -s "$PWD/copy/beside" far/away/build &&
    (cd far/away/build && make includes.stamp src/cmd/table.c) >report 2>&1 || { cat report && false; }
'

test_expect_success 'configure succeeds in the copy' '
    (cd copy && ./configure -q) >report 2>&1 || { cat report && false; }
'

test_expect_success 'a forbidden include breaks the build before the first compilation' '
    plant src/match/planted.c "#include \"sched/sched.h\"" &&
    test_must_fail make -C copy >report 2>&1 &&
    grep "src/match/planted.c:1: folder match may not include sched" report &&
    ! grep "^  CC " report
'

test_expect_success 'a call of a banned function breaks the compilation, and the error names the function' '
    names=$(sed -n "s/^#define \([a-z]*\)(\.\.\.) .*/\1/p" copy/src/common/banned.h) &&
    test $(echo $names | wc -w) -ge 16 &&
    cp copy/src/common/error.c error.c &&
    test_when_finished "mv error.c copy/src/common/error.c" &&
    {
        echo "void planted (char *a, char *b);" &&
        echo "void planted (char *a, char *b) {" &&
        for name in $names; do echo "$name (a, b);"; done &&
        echo "}"
    } >>copy/src/common/error.c &&
    test_must_fail make -C copy src/common/error.o >report 2>&1 &&
    for name in $names; do
        grep -q "sorry_${name}_is_banned" report || { echo "not refused: $name"; return 1; }
    done
'

test_expect_success 'one new file adds a command' '
    plant src/cmd/planted.c "const struct command command_planted = { .name = \"planted\" };" &&
    make -C copy src/cmd/table.c >report 2>&1 &&
    grep "&command_planted," copy/src/cmd/table.c &&
    rm copy/src/cmd/planted.c &&
    make -C copy src/cmd/table.c >report 2>&1 &&
    test_must_fail grep planted copy/src/cmd/table.c
'

# example HEADING: the code under a heading of doc/developer.md.
example ()
{
    sed -n "/^## $1/,/^\`\`\`$/p" copy/doc/developer.md | sed "1,/^\`\`\`c$/d; /^\`\`\`$/d"
}

# src/broker/core/test/test_service_example.c tests what the same service does.
test_expect_success 'one new file adds a service with a key, a timer, a route and a slot on each job' '
    plant src/broker/services/delay.c "$(example "A service of your own")" &&
    make -C copy src/broker/core/table.c >report 2>&1 &&
    grep "&service_delay," copy/src/broker/core/table.c &&
    make -C copy includes.stamp src/broker/services/delay.o src/broker/core/table.o >report 2>&1 &&
    rm copy/src/broker/services/delay.c &&
    make -C copy src/broker/core/table.c >report 2>&1 &&
    test_must_fail grep delay copy/src/broker/core/table.c
'

# src/sched/test/test_policy_example.c tests the decisions of the same policy.
test_expect_success 'one new file adds a queue policy' '
    plant src/sched/policies/shortest.c "$(example "A queue policy of your own")" &&
    make -C copy src/sched/policies/table.c >report 2>&1 &&
    grep "&queue_policy_shortest," copy/src/sched/policies/table.c &&
    make -C copy src/sched/policies/shortest.o src/sched/policies/table.o >report 2>&1 &&
    rm copy/src/sched/policies/shortest.c &&
    make -C copy src/sched/policies/table.c >report 2>&1 &&
    test_must_fail grep shortest copy/src/sched/policies/table.c
'

test_expect_success 'a release contains all sources, headers, tests and documents' '
    make -C copy dist >report 2>&1 &&
    tar tzf copy/fluxq-*.tar.gz | sed "s|^[^/]*/||" | sort >released &&
    (cd copy && find src contrib doc t -name "*.[ch]" -o -name "*.t" -o -name "*.md" -o \
        -path "contrib/*" -type f | grep -v "/table.c$" | sort) >wanted &&
    comm -13 released wanted >missing &&
    test_must_be_empty missing &&
    test_must_fail grep -E "\.(o|a|log|trs)$|trash directory|autom4te" released
'

test_expect_success 'make install with DESTDIR installs programs and links in their places' '
    make -C "$FLUXQ_BUILD_DIR" install DESTDIR="$PWD/dest" prefix=/opt/fluxq >report 2>&1 &&
    (cd dest/opt/fluxq && test -x bin/fluxq && test -x bin/fluxq-match && test -x bin/fluxq-sim && test -x sbin/fluxqd &&
        test -x libexec/fluxq/fluxq-shell && test -f share/man/man1/fluxq-submit.1 &&
        test -f share/man/man5/fluxq.yaml.5 && test -f share/man/man8/fluxqd.8 &&
        test -f share/doc/fluxq/guide/README.md && test -f share/doc/fluxq/examples/fluxq.yaml &&
        grep "^ExecStart=/.*/fluxqd$" lib/systemd/system/fluxqd.service) &&
    for name in submit queue cancel show logs info ctl; do
        test "$(readlink dest/opt/fluxq/bin/fluxq-$name)" = fluxq &&
        dest/opt/fluxq/bin/fluxq-$name --version || return 1
    done
'

test_expect_success 'make uninstall leaves no file' '
    make -C "$FLUXQ_BUILD_DIR" uninstall DESTDIR="$PWD/dest" prefix=/opt/fluxq >report 2>&1 &&
    find dest ! -type d >left &&
    test_must_be_empty left
'

test_done
