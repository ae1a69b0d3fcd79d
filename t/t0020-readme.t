#!/bin/sh
# Runs the console blocks of the README in order in a copy of the tree. The output must have the form
# that the README shows, so a changed command, column or line fails this test. Numbers and the names of
# machine, user and directory may differ.
test_description='the README shows what its commands print'
. "$(dirname "$0")/lib.sh"
src=$FLUXQ_SOURCE_DIR
here=$PWD

# The content of the blocks marked "console": "$ COMMAND" and the lines that the command prints.
console ()
{
    awk '/^```console$/ { on = 1; next } /^```/ { on = 0 } on' "$src/README.md"
}

# Replaces parts that may differ by one form, and keeps each line of a command once: the README
# shows a queue until the queue is empty.
form ()
{
    sed -E -e "s#$here/fluxq#DIR#g; s#/home/user/fluxq#DIR#g" \
        -e '/^install-packages:/d' \
        -e 's/listening on .*/listening on SOCKET/' \
        -e "s/\<($(id -un)|user)\>/USER/g" \
        -e 's/^hello from [^:]*:/hello from HOST:/' \
        -e 's/[0-9]+([-.:T\/][0-9]+)*/N/g; s/\<[KMGT]iB\>/iB/g' \
        -e 's/ (CF|CG) N:?N? / R N /' \
        -e 's/[ \t]+/ /g; s/ $//; s/^\[ /[/; s/^ //' |
        awk '/^\$ / { delete seen } !seen[$0]++'
}

# The shell that runs the commands. A broker gets directories of its own, also when root runs this
# test.
type_commands ()
{
    fluxqd ()
    {
        command fluxqd --runtime-dir "$FLUXQ_RUN" --state-dir "$here/state" "$@"
    }
    while IFS= read -r line <&8; do
        case $line in
        '$ '*) ;;
        *) continue ;;
        esac
        printf '%s\n' "$line"
        eval "${line#??}" 8<&- || return
        case $line in
        *'&') wait_until 20 grep -q "^fluxqd: listening" "$here/printed" || return ;;
        esac
    done 8<"$here/commands"
    wait
}

test_expect_success 'the README shows the main commands' '
    console >shown &&
    grep "^\$ " shown >commands &&
    for word in contrib/quickstart fluxqd fluxq-submit fluxq-queue fluxq-logs fluxq-info \
        "fluxq-show job" "fluxq-ctl shutdown"; do
        grep -qF "\$ $word" commands || return 1
    done
'

test_expect_success 'a copy of the tree has the built files' '
    mkdir fluxq &&
    cp -R "$src/contrib" "$src/doc" "$src/configure" "$src/README.md" fluxq/ &&
    ln -s "$FLUXQ_BUILD_DIR" fluxq/build
'

test_expect_success 'the commands print what the README shows' '
    (
        cd fluxq && unset MAKEFLAGS MFLAGS MAKELEVEL &&
        FLUXQ_BROKER=unix://$FLUXQ_RUN/fluxqd.sock && export FLUXQ_BROKER &&
        type_commands </dev/null >../printed 2>&1
    ) || { cat printed && return 1; }
    form <shown >expected &&
    form <printed >actual &&
    diff expected actual
'
FLUXQ_BROKER=unix://$FLUXQ_RUN/fluxqd.sock fluxq-ctl shutdown >/dev/null 2>&1 # if it failed midway
rm -f "$FLUXQ_BUILD_DIR"/quickstart-*.out

# Links of the pages to files of this tree.
test_expect_success 'links have targets, and the named tests exist' '
    (
        cd "$src" &&
        for page in README.md doc/*.md doc/guide/*.md t/README.md t/kube/README.md; do
            grep -oE "\]\([^)#]+" "$page" | sed "s/](//; /:/d" | while read -r link; do
                test -e "$(dirname "$page")/$link" || echo "$page: there is no $link"
            done
            grep -oE "\bt/t[0-9]{4}-[a-z-]+\.t\b" "$page" | while read -r test; do
                test -e "$test" || echo "$page: there is no $test"
            done
        done
    ) >broken &&
    cat broken && test ! -s broken
'

test_done
