#!/bin/sh
test_description='sshare and sacctmgr: what programs read about users, accounts and shares'
. "$(dirname "$0")/lib.sh"

PATH=$FLUXQ_BUILD_DIR/src/cmd/slurm:$PATH
TZ=UTC && export TZ
unset SLURM_TIME_FORMAT
cat >fluxq.yaml <<\END
cluster-id: phys
local: {nodes: 3, cores: 2, memory: 1000Mi}
queues:
  batch: {default: true}
END
start_broker --config fluxq.yaml
me=$(id -un)
job=$(sbatch --parsable -A physics -n 2 -o /dev/null --wrap true)
wait_job_state $job COMPLETED

# prints LINES COMMAND...: its whole output; LINES as in printf.
prints()
{
    printf "$1" >wanted && shift && "$@" >out && test_cmp wanted out
}

# fails LINES COMMAND...: exit status 1, nothing on stdout, LINES first on stderr.
fails()
{
    printf "$1" >wanted && shift && test_expect_code 1 "$@" >out 2>err && test_must_be_empty out &&
    head -n "$(wc -l <wanted)" err >first && test_cmp wanted first
}

# A user's line with the usage, which depends on time, as U.
usage_as_u()
{
    awk -F'|' -v OFS='|' '{ if ($5 ~ /^[0-9]+$/) $5 = "U"; print }'
}

test_expect_success 'sshare: root, and below it the caller with one share' '
    sshare >out && cat out && cat >wanted <<-\END &&
	Account                    User  RawShares  NormShares    RawUsage  EffectvUsage  FairShare 
	-------------------- ---------- ---------- ----------- ----------- ------------- ---------- 
	END
    sed -n 1,2p out >head && test_cmp wanted head &&
    sshare -nP | usage_as_u >out && printf "root|||0.000000|U|1.000000|\n root|$me|1|1.000000|U|1.000000|0.500000\n" >wanted &&
    test_cmp wanted out && sshare -np | usage_as_u >out && sed "s/\$/|/" wanted >ended && test_cmp ended out &&
    sshare -n -a -P | usage_as_u >out && test_cmp wanted out && sshare -n -P -A root -u $me | usage_as_u >out && test_cmp wanted out &&
    sshare -n -P -u "$(id -u)" | usage_as_u >out && test_cmp wanted out
'

test_expect_success 'sshare: fields by their beginnings, widths, more fields' '
    prints "      User Account                                   FairShare \n---------- -------------------- ------------------------------ \n           root                                                \n$(printf %10s $me)  root                                      0.500000 \n" \
        sshare -o user,acc%-20,fairshare%30 &&
    sshare -lP >out && sed -n 1p out >head &&
    echo "Account|User|RawShares|NormShares|RawUsage|NormUsage|EffectvUsage|FairShare|LevelFS|GrpTRESMins|TRESRunMins" >wanted &&
    test_cmp wanted head && sshare -mnP -u $me -o user,normusage,levelfs,cluster >out &&
    printf "|||phys\n$me|1.000000|1.000000|phys\n" >wanted && test_cmp wanted out &&
    sshare -m | sed -n 1p >head && grep "User    Partition  RawShares" head && test "$(sshare -e | wc -w)" -eq 15
'

test_expect_success 'sshare -U, as Snakemake asks for the accounts that a user may name: nothing limits them' '
    sshare -U --format Account%256 --noheader >out 2>err && test_must_be_empty out && grep "jobs may name any account" err &&
    sshare -U >out 2>err && test "$(wc -l <out)" -eq 2 && sshare -n -A physics >out && test_must_be_empty out &&
    sshare -n -u no-such-user >out && test "$(wc -l <out)" -eq 1
'

test_expect_success 'sshare: wrong words are refused' '
    fails "sshare: error: Invalid field requested: \"nosuch\"\n" sshare -o nosuch &&
    fails "sshare: error: -M: there is one cluster; remove the option\n" sshare -M x &&
    fails "sshare: error: --json: not supported; use -P, or fluxq-show fair-share --json\n" sshare --json &&
    fails "sshare: error: Unrecognized argument: foo\n" sshare foo
'

test_done
