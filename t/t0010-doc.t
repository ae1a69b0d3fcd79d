#!/bin/sh
# Compares the API's description and the configuration's manual page with the tables in the
# code: a difference would mislead readers.
test_description='the documentation agrees with the tables in the code'
: "${FLUXQ_SOURCE_DIR:=$(cd "$(dirname "$0")/.." && pwd)}"
src=$FLUXQ_SOURCE_DIR
. "$src/t/lib.sh"
PATH=$FLUXQ_BUILD_DIR/src/rest:$PATH

# One line "POST /v1/jobs/{}" for each row of the table of routes.
routes_in_code ()
{
    sed -n 's/^ *{ "\([A-Z]*\)", "\(\/v1[^"]*\)", api_.*/\1 \2/p' $(find "$src/src/broker" -name "*.c" -not -path "*/test/*") | sort
}

# The same lines from doc/openapi.yaml: paths have an indent of two blanks, methods of four.
routes_in_doc ()
{
    awk '/^components:/ { exit }
         /^  \/v1/ { path = $1; sub(/:$/, "", path); gsub(/{[a-z]*}/, "{}", path) }
         /^    (get|post|put|patch|delete):/ { m = toupper($1); sub(/:/, "", m); print m, path }' \
        "$src/doc/openapi.yaml" | sort
}

test_expect_success 'the API description has exactly the routes of the code' '
    routes_in_code >code && routes_in_doc >doc &&
    test "$(wc -l <code)" -ge 17 &&
    diff code doc
'

# One line "POST /v1/jobs/{} ROLES" for each route, from the program and from doc/openapi.yaml.
roles_of_program ()
{
    fluxqd --routes | sed -n 's/^| \([A-Z]*\) | `\([^`]*\)` | \([a-z, ]*\) |.*/\1 \2 \3/p' | sort
}
roles_in_doc ()
{
    awk '/^components:/ { exit }
         /^  \/v1/ { path = $1; sub(/:$/, "", path); gsub(/{[a-z]*}/, "{}", path) }
         /^    (get|post|put|patch|delete):/ { m = toupper($1); sub(/:/, "", m) }
         /^      x-fluxq-role: / { sub(/^ *x-fluxq-role: /, ""); print m, path, $0 }' "$src/doc/openapi.yaml" | sort
}
test_expect_success 'the API description has the roles of each route, and doc/security.md the table of them' '
    roles_of_program >code && roles_in_doc >doc && test "$(wc -l <code)" = "$(routes_in_code | wc -l)" &&
    diff code doc &&
    sed "1,/^<!-- fluxqd --routes -->/d; /^<!-- end -->/,\$d" "$src/doc/security.md" >doc && fluxqd --routes | diff doc -
'

# Users generate programs from the description, so the description must be valid YAML
# without broken references.
test_expect_success 'the API description is valid YAML, and each reference has a target' '
    cat >read.py <<-\END &&
	import sys, yaml

	api = yaml.safe_load(open(sys.argv[1]))
	count = 0

	def look(o):
	    global count
	    for key, value in o.items() if isinstance(o, dict) else enumerate(o):
	        if key == "$ref":
	            place = api
	            for name in value.removeprefix("#/").split("/"):
	                place = place[name]
	            count += 1
	        elif isinstance(value, (dict, list)):
	            look(value)

	look(api)
	print(len(api["paths"]), count)
	END
    /usr/bin/python3 read.py "$src/doc/openapi.yaml" >counts && read paths refs <counts &&
    test "$paths" -ge 17 && test "$refs" -ge 10
'

# attributes_with MEMBER OTHER: prints OTHER of each row in the table of attributes that has MEMBER.
attributes_with ()
{
    sed -n '/^const struct attribute attribute_table/,/^};/p' "$src/src/jobspec/options/attributes.c" |
        tr '\n' ' ' | sed 's/ },/ }\n/g' | grep "\.$1 = " | sed "s/.*\.$2 = \"\([^\"]*\)\".*/\1/"
}

test_expect_success 'the API description has every attribute that fluxq-show prints' '
    attributes_with label name | tr - _ >names && test -s names &&
    while read -r name; do
        grep -qE "^ +$name: " "$src/doc/openapi.yaml" || { echo "missing: $name" && return 1; }
    done <names
'

test_expect_success 'the API description has exactly the columns of the listing' '
    {
        find "$src/src/broker" -name "*.c" -exec cat {} + |
            sed -n "/^static const struct column columns/,/^};/s/^ *{ \"\([a-z_]*\)\", COLUMN_.*/\1/p" &&
        attributes_with heading event
    } | sort >code &&
    test "$(wc -l <code)" -ge 20 &&
    awk "/^    Job:/ { on = 1; next } /^    [A-Z]/ { on = 0 } on && /^        [a-z_]+: / {
         sub(/:.*/, \"\", \$1); print \$1 }" "$src/doc/openapi.yaml" | sort >doc &&
    diff code doc
'

test_expect_success 'the API description has exactly the fields of the history' '
    {
        sed -n "s/^ *{ \"\([a-z_]*\)\", FIELD_.*/\1/p" "$src/src/broker/services/history/history_fields.c" && echo steps
    } | sort >code &&
    test "$(wc -l <code)" -ge 40 &&
    awk "/^    HistoryJob:/ { on = 1; next } /^    [A-Z]/ { on = 0 } on && /^        [a-z_]+: / {
         sub(/:.*/, \"\", \$1); print \$1 }" "$src/doc/openapi.yaml" | sort >doc &&
    diff code doc
'

# The names in the tables of keys; "local" and "kube" are the sections of the executors.
keys_in_code ()
{
    {
        sed -n '/\(keys\|struct config_key .*\)\[\] = {/,/};/p' $(grep -l 'struct config_key .*\[\] = {' -r "$src/src/broker" --include=*.c | grep -v /test/) \
            "$src/src/exec/kube/core/config.c" "$src/src/exec/kube/core/adoptconfig.c" | sed -n 's/^ *{ "\([a-z-]*\)",.*/\1/p'
        sed -n '/set_keys\[\] = {/,/};/p' "$src/src/exec/podset.c" "$src/src/exec/spaceset.c" |
            sed -n 's/^ *{ "\([a-z-]*\)",.*/\1/p'
        sed -n '/known\[\] = {/,/}/p' "$src/src/exec/local/local.c" "$src/src/exec/kube/core/groupconfig.c" |
            grep -oE '"[a-z-]+"' | tr -d '"'
    } | grep -vxE 'local|kube' | sort -u
}

# The bold words of .TP entries.
keys_in_doc ()
{
    awk '/^\.TP/ { getline; if ($1 == ".B") { gsub(/\\/, "", $2); print $2 } }' \
        "$src/doc/man/fluxq.yaml.5" | sort -u
}

test_expect_success 'fluxq.yaml(5) has exactly the keys of fluxq.yaml' '
    keys_in_code >code && keys_in_doc >doc &&
    test "$(wc -l <code)" -ge 35 &&
    diff code doc
'

test_expect_success 'fluxqd accepts the example configuration' '
    fluxqd --check --config "$src/etc/fluxq.yaml"
'

test_expect_success 'groff renders every manual page without a warning' '
    for page in "$src"/doc/man/*; do
        groff -ww -man -Tutf8 -z "$page" || return 1
    done 2>warnings &&
    cat warnings && test ! -s warnings
'

# One line "fluxq-queue.1" for each reference .BR fluxq\-queue (1) in the pages.
references ()
{
    cat "$src"/doc/man/* | tr -d '\\"' | grep -oE 'fluxq[a-z.-]* ?\([158]\)' |
        sed 's/ *(/./; s/)//' | sort -u
}

test_expect_success 'every manual page that another page refers to exists' '
    references >references && test "$(wc -l <references)" -ge 9 &&
    while read -r page; do
        test -f "$src/doc/man/$page" || { echo "there is no $page" && return 1; }
    done <references
'

test_expect_success 'every manual page has examples' '
    grep -L "^\.SH EXAMPLES" "$src"/doc/man/* >without && test_must_be_empty without &&
    for page in "$src"/doc/man/*; do
        awk "/^\.SH/ { on = /EXAMPLES/ } on && /^ *(\\$|#) /" "$page" | grep -q . || grep -q "^executor:" "$page" ||
            { echo "$page: EXAMPLES shows no command" && return 1; }
    done
'

test_expect_success 'every program has a page, and the page has every option' '
    for program in $(ls "$FLUXQ_BUILD_DIR"/src/cmd | grep -x "fluxq[a-z-]*") fluxqd fluxq-shell \
        fluxq-match fluxq-sim slurmrestd; do
        page=$(ls "$src/doc/man/$program".[18]) &&
        $program --help | grep -oE "^ +(-.,)? *--[a-z-]+" | sed "s/.*--/--/" >options &&
        test -s options && tr -d "\\\\" <"$page" >text &&
        while read -r option; do
            grep -qE -e "$option([^a-z-]|$)" text ||
                { echo "$page does not have $option" && return 1; }
        done <options || return 1
    done
'

# One line "fluxq-submit --wait" for each long option in the commands of README and guide, up to "--" or the
# end of the command.
options_shown()
{
    grep -ohE '(\$ |`|\()(fluxqd|fluxq-[a-z]+) [^|;&)`]*' "$src/README.md" "$src"/doc/guide/*.md | sed 's/^\$ //; s/^[`(]//' |
        sed 's/ -- .*//' | awk '{ for (i = 2; i <= NF; i++) if ($i ~ /^--[a-z]/) { sub(/=.*/, "", $i); print $1, $i } }' | sort -u
}
test_expect_success 'options that README and guide show exist' '
    options_shown >shown && test "$(wc -l <shown)" -ge 50 &&
    while read -r program option; do
        $program --help | grep -qE -e "$option([^a-z-]|$)" || { echo "$program has no $option" && return 1; }
    done <shown
'

# Paths from the top of the tree, and targets of links relative to their page; NAME stands for any name.
named_files()
{
    for page in README.md SECURITY.md doc/*.md doc/guide/*.md t/README.md t/kube/README.md; do
        grep -oE '`(src|t|etc|contrib|doc)/[A-Za-z0-9_./*-]+`' "$page" | tr -d '`' | grep -v NAME
        grep -oE '\]\([A-Za-z0-9_./-]+[)#]' "$page" | sed "s|^](|$(dirname "$page")/|; s/[)#]\$//"
    done | sort -u
}
exists()
{
    # shellcheck disable=SC2086
    set -- $1
    test -e "$1"
}
test_expect_success 'files that the documents name exist' '
    (cd "$src" && named_files) >named && test $(wc -l <named) -ge 150 &&
    while read -r file; do
        (cd "$src" && exists "$file") || { echo "there is no $file" && return 1; }
    done <named
'

# The first table of developer.md: a question, and one file.
test_expect_success 'each question of developer.md names one file' '
    sed -n "/^## Where is/,/^## By/p" "$src/doc/developer.md" | grep "^| [a-zA-Z]" | sed 1d >questions &&
    test "$(wc -l <questions)" -ge 12 &&
    while read -r question; do
        set -- $(echo "$question" | grep -oE "src/[a-z0-9_/.]+") &&
        test $# = 1 && test -f "$src/$1" || { echo "not one file: $question" && return 1; }
    done <questions
'

# The names in the table of env_table.c (one name is a macro), and the names of attributes.
test_expect_success 'fluxq-environment(7) has exactly the variables of a task' '
    {
        sed -n "/^const struct env_variable env_variables\[\] = {/,/^};/p" "$src/src/shell/step/env_table.c" |
            sed -n "s/^ *{ \"\([A-Za-z_]*\)\", .*/\1/p; s/^ *{ CLIENT_SOCKET_VARIABLE, .*/FLUXQ_AGENT_SOCKET/p" &&
        attributes_with variable variable &&
        attributes_with variable name | tr a-z- A-Z_ | sed "s/^/FLUXQ_/"
    } | sort >code &&
    test "$(wc -l <code)" -ge 70 &&
    sed -n "s/^\.BR \([A-Z].*\)/\1/p" "$src/doc/man/fluxq-environment.7" | tr -d "\",\\\\" | tr -s " " "\n" | sort >doc &&
    diff code doc
'

test_expect_success 'the guide has the table of the options of Slurm as the program prints it, and all commands of Slurm' '
    sed "1,/^<!-- fluxq-show slurm-options -->/d; /^<!-- end -->/,\$d" "$src/doc/guide/slurm.md" >doc &&
    fluxq-show slurm-options | diff doc - && test "$(wc -l <doc)" -ge 120 &&
    for command in $(sed -n "s/^    &slurm_\([a-z]*\),/\1/p" "$FLUXQ_BUILD_DIR/src/cmd/slurm/table.c"); do
        grep "^| .$command. |" "$src/doc/guide/slurm.md" || return 1
    done
'

test_done
