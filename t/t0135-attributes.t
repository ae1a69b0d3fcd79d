#!/bin/sh
test_description='attributes that fluxq only records: each can be set in every way and is shown everywhere'
. "$(dirname "$0")/lib.sh"

start_broker

# OPTION:COLUMN:LABEL:VARIABLE of each row of the table of attributes with a column and a variable, and any text as its value.
recorded()
{
    sed -n '/^const struct attribute attribute_table/,/^};/p' "$FLUXQ_SOURCE_DIR/src/jobspec/options/attributes.c" |
        tr '\n' ' ' | sed 's/ },/ }\n/g' | grep "\.heading = .*\.variable = " | grep -v "\.check = " |
        sed 's/.*\.name = "\([^"]*\)".*\.event = "\([^"]*\)".*\.label = "\([^"]*\)".*\.variable = "\([^"]*\)".*/\1:\2:\3:\4/'
}

# each FUNCTION: calls FUNCTION with $name, $column, $label, $slurm and $own of each row.
each()
{
    recorded >rows && test -s rows &&
    while IFS=: read -r name column label slurm <&3; do
        own=FLUXQ_$(echo "$name" | tr a-z- A-Z_)
        "$1" || { echo "not so: --$name" && return 1; }
    done 3<rows
}

# submitted COMMAND...: COMMAND submits job $id, and the job completes.
submitted()
{
    id=$("$@") && wait_job_state "$id" COMPLETED
}

# script DIALECT TEXT: writes said.sh with the attribute.
script()
{
    printf '#!/bin/sh\n#%s --%s="%s" -o /dev/null\ntrue\n' "$1" "$name" "$2" >said.sh
}

# known TEXT: fluxq-queue, fluxq-show, their JSON and the jobspec show TEXT for job $id.
known()
{
    test "$(fluxq-queue -j "$id" --no-header -o "$column")" = "$1" &&
    fluxq-show job "$id" >text && grep -E "^$label: +$1\$" text &&
    test "$(job_field "$id" "$column")" = "$1" &&
    fluxq-queue -j "$id" --json >rows.json && grep "\"$column\": *\"$1\"" rows.json &&
    fluxq-show job "$id" --jobspec | jq -e ".attributes.system.fluxq.\"$name\" == \"$1\""
}

from_each_place()
{
    submitted fluxq-submit --"$name=on the line" -o /dev/null -- true && known "on the line" &&
    submitted env "$own=out of it" fluxq-submit -o /dev/null -- true && known "out of it" &&
    script FLUXQ "a b" && submitted fluxq-submit said.sh && known "a b" &&
    script SBATCH "c d" && submitted fluxq-submit said.sh && known "c d"
}
test_expect_success 'the attribute can be set on the command line, in the environment, and in a script of each dialect' '
    each from_each_place
'

by_precedence()
{
    script FLUXQ script &&
    submitted env "$own=environment" fluxq-submit said.sh && known environment &&
    submitted env "$own=environment" fluxq-submit --"$name=line" said.sh && known line
}
test_expect_success 'the command line overrides the environment, and the environment overrides the script' '
    each by_precedence
'

write_script nest.sh <<END
#!/bin/sh
env >outer
fluxq-submit --broker "$FLUXQ_BROKER" --wait -o /dev/null -- sh -c "env >inner"
END
in_the_job()
{
    submitted fluxq-submit --"$name=of the outer" -o /dev/null ./nest.sh && wait_until 20 test -s inner &&
    grep -x "$own=of the outer" outer && grep -x "$slurm=of the outer" outer &&
    test_must_fail grep -E "^($own|$slurm)=" inner && rm inner
}
test_expect_success 'the job has the variables of fluxq and Slurm, and a job that it submits does not inherit them' '
    each in_the_job
'

in_an_array()
{
    array=$(fluxq-submit -a 1-2 --"$name=of all" -o /dev/null -- true) &&
    for id in "${array}_1" "${array}_2"; do
        wait_job_state "$id" COMPLETED && known "of all" || return 1
    done
}
test_expect_success 'the tasks of an array have the attribute, too' '
    each in_an_array
'

without()
{
    submitted fluxq-submit -o /dev/null -- true &&
    fluxq-queue -j "$id" --no-header -o "$column" >text && grep -x -e "- *" text &&
    fluxq-show job "$id" >text && test_must_fail grep "^$label:" text &&
    test_expect_code 2 fluxq-submit --"$name=$(printf "a\\tb")" -- true 2>err && grep -e "--$name: must be a text" err &&
    test_expect_code 2 fluxq-submit --"$name=" -- true 2>err && grep -e "--$name: must be a text" err
}
test_expect_success 'a job without the attribute shows nothing, and a value that is not a line of text is refused' '
    each without
'

kept()
{
    submitted fluxq-submit --"$name=kept" -o /dev/null -- true && restart_broker && known kept
}
test_expect_success 'the attribute is still known after a restart of the broker' '
    each kept
'

test_done
