#!/bin/sh
test_description='fluxq-bcast copies a complete file to all nodes of a job'
. "$(dirname "$0")/lib.sh"

SQ="'"

# job NAME: runs NAME.sh on four virtual nodes with shared directories; the job must succeed.
job()
{
    id=$(fluxq-submit -N 4 -n 4 -o "$1.out" "./$1.sh") &&
        wait_job_state "$id" 'COMPLETED|FAILED' 120 && cat "$1.out" &&
        job_state "$id" >ended && echo COMPLETED >wanted && test_cmp wanted ended
}

start_broker --local 4
test_expect_success 'a file arrives complete, with its mode, and no other file is left' '
    seq 1 1000000 >big && chmod 750 big &&
    write_script whole.sh <<-\END &&
	#!/bin/sh
	exec 2>&1
	mkdir there
	fluxq-bcast big there/copy || exit
	cmp big there/copy || exit
	stat -c "%a" there/copy
	ls there
	fluxq-bcast big there/ && cmp big there/big && echo named
	fluxq-bcast -p big there/kept && test "$(stat -c %Y big)" = "$(stat -c %Y there/kept)" && echo kept
	: >empty
	fluxq-bcast empty there/empty && test -e there/empty && ! test -s there/empty && echo empty
	END
    job whole && printf "%s\n" 750 copy named kept empty >expected && test_cmp expected whole.out
'
test_expect_success 'each node writes its own copy if the directories differ' '
    write_script each.sh <<-\END &&
	#!/bin/sh
	exec 2>&1
	fluxq-run sh -c "mkdir node.\$FLUXQ_NODEID"
	fluxq-run sh -c "cd node.\$FLUXQ_NODEID && exec \$FLUXQ_SHELL --receive f --size 3 --mode 420" <<E
	short
	E
	echo "$?"
	ls node.*
	END
    job each && grep -c "the received data differs from the sent data" each.out >got && echo 4 >expected &&
    test_cmp expected got && grep -x 1 each.out && ! grep -x f each.out
'
test_expect_success 'an existing file stays unless --force is given' '
    write_script there.sh <<-\END &&
	#!/bin/sh
	exec 2>&1
	echo old >target
	echo new >source
	fluxq-bcast source target
	echo "$? $(cat target)"
	fluxq-bcast --force source target
	echo "$? $(cat target)"
	fluxq-bcast source target
	echo "$?"
	END
    job there && grep "target already exists (--force replaces it)" there.out &&
    grep -v "^fluxq" there.out >got && printf "1 old\n0 new\n0\n" >expected && test_cmp expected got
'
test_expect_success 'a file that cannot be sent or written is reported in one line' '
    write_script wrong.sh <<-\END &&
	#!/bin/sh
	exec 2>&1
	fluxq-bcast nosuch x
	echo "$?"
	fluxq-bcast . x
	echo "$?"
	fluxq-bcast one
	echo "$?"
	fluxq-bcast one two three
	echo "$?"
	fluxq-bcast wrong.sh /nowhere/x
	echo "$?"
	END
    job wrong && grep "^fluxq-bcast: nosuch: No such file or directory" wrong.out &&
    grep "^fluxq-bcast: .: not a file" wrong.out && grep "^fluxq-bcast: FILE and DEST are required" wrong.out &&
    grep "^fluxq-bcast: ${SQ}three${SQ}: expected one FILE and one DEST" wrong.out &&
    grep "^fluxq-bcast: cannot write /nowhere/x: No such file or directory" wrong.out &&
    grep -x "[0-9]*" wrong.out >got && printf "1\n1\n2\n2\n1\n" >expected && test_cmp expected got
'
test_expect_success 'in a shell of fluxq-alloc a file goes from this machine to the nodes' '
    write_script held.sh <<-\END &&
	#!/bin/sh
	fluxq-bcast big from-alloc && cmp big from-alloc && echo whole
	fluxq-bcast -f nosuch x
	echo "$?"
	fluxq-bcast wrong.sh big
	echo "$?"
	fluxq-bcast --force wrong.sh big && cmp wrong.sh big && echo forced
	END
    fluxq-alloc -N 2 ./held.sh >held.out 2>held.err && printf "whole\n1\n1\nforced\n" >expected &&
    test_cmp expected held.out && grep "^fluxq-bcast: nosuch: No such file or directory" held.err &&
    grep "big already exists" held.err
'
test_expect_success 'outside a job fluxq-bcast reports that there is no job' '
    test_must_fail fluxq-bcast held.sh x 2>err && grep "neither inside a job nor in a shell of fluxq-alloc" err
'
test_done
