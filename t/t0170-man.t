#!/bin/sh
test_description='manual pages and --help have the same options'
. "$(dirname "$0")/lib.sh"

man=$FLUXQ_SOURCE_DIR/doc/man

# One line "-x --name ARG" for each option; an optional value is in brackets.
options_in_help()
{
    "$@" --help | sed '1,/^Options:/d' |
        sed -n 's/^  \(-[a-zA-Z]\), --\([a-z-]*\)\([^ ]*\).*/\1 --\2 \3/p
            s/^      --\([a-z-]*\)\([^ ]*\).*/ --\1 \2/p' | sort
}

# The tags of .TP entries that begin with a dash.
options_in_page()
{
    awk '/^\.TP/ { getline; print }' "$1" | grep -E '^\.(B|BR) \\-' |
        sed 's/\\f[IR]//g; s/\\-/-/g; s/^\.BR* //; s/", "//; s/ \([=[]\)/\1/; s/\.\.\.$/.../' |
        sed -n 's/^\(-[a-zA-Z]\)\{0,1\} *--\([a-z-]*\)\(.*\)$/\1 --\2 \3/p' | sort
}

compare()
{
    page=$1
    shift
    options_in_help "$@" >help && options_in_page "$man/$page" >page &&
        test "$(wc -l <help)" -ge 3 && diff help page
}

test_expect_success 'fluxq(1) has exactly the options of --help' '
    compare fluxq.1 fluxq
'

for command in submit run alloc attach queue cancel show logs info ctl match sim; do
    test_expect_success "fluxq-$command(1) has exactly the options of --help" "
        compare fluxq-$command.1 fluxq-$command
    "
done

# A heading is alone on its line, ends in ":", occurs once and has options; each option is
# below a heading.
test_expect_success 'the options of fluxq-submit are in groups' '
    fluxq-submit --help | sed "1,/^Options:/d" | grep "^[A-Z].*:\$" >headings &&
    test "$(wc -l <headings)" -ge 8 && sort headings | uniq -d >twice && test_must_be_empty twice &&
    fluxq-submit --help | sed "1,/^Options:/d" | awk "/^[A-Z].*:\$/ { if (open) bad = 1; open = seen = 1; next } NF { open = 0; if (!seen) bad = 1 }
        END { exit bad || open }"
'

test_expect_success 'every command has a page, and fluxq(1) and the list name all commands' '
    fluxq --help | sed -n "s/^  \([a-z][a-z]*\)  .*/\1/p" >names && test "$(wc -l <names)" -ge 8 &&
    for name in $(grep -vx console names); do
        test -f "$man/fluxq-$name.1" &&
        grep "^.BR fluxq.-$name (1)" "$man/fluxq.1" || return 1
    done
'

test_expect_success 'the pages have exactly the subcommands of --help' '
    for command in ctl show; do
        fluxq-$command --help | sed "/^Options:/,\$d" | sed -n "s/^  \([a-z][a-z-]*\) .*/\1/p" | sort -u >help &&
        test -s help &&
        awk "/^\.SH (SUBCOMMANDS|DESCRIPTION)/ { on = 1 } /^\.SH (OPTIONS|EXIT)/ { on = 0 }
             on && /^\.TP/ { getline; print }" "$man/fluxq-$command.1" |
            sed "s/\\\\//g; s/^\.[A-Z]* *//; s/\"//g; s/^\([a-z-]*\).*/\1/" | sort -u >page &&
        diff help page || return 1
    done
'

test_expect_success 'the page of fluxq-queue has every column with its letter' '
    fluxq-queue --help | sed -n "s/^  \(%.\)  \([a-z_]*\) .*/\1  \2/p; s/^      \([a-z_]*\)   *[a-z].*/\1/p" >columns &&
    test "$(wc -l <columns)" -ge 25 &&
    sed -n "/^.SH FORMATS/,/^.SH EXIT/p" "$man/fluxq-queue.1" >section &&
    while read -r column; do
        grep -qE "(^| )$column( |\$)" section || { echo "missing: $column"; return 1; }
    done <columns
'

test_done
