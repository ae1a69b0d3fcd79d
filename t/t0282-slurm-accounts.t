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
    sshare -m | sed -n 1p >head && grep "User    Partition  RawShares" head && test "$(sshare -e | wc -w)" -eq 15 &&
    prints "root|\n root|$me\n" sshare -nPo A,User && fails "sshare: error: Invalid field requested: \"ALL\"\n" sshare -o ALL
'

test_expect_success 'sshare -U, as Snakemake asks for the accounts that a user may name: nothing limits them' '
    sshare -U --format Account%256 --noheader >out 2>err && test_must_be_empty out && grep "jobs may name any account" err &&
    sshare -U >out 2>err && test "$(wc -l <out)" -eq 2 && sshare -n -A physics >out && test_must_be_empty out &&
    sshare -n -u no-such-user >out && test "$(wc -l <out)" -eq 1
'

test_expect_success 'sshare: wrong words are refused' '
    fails "sshare: error: Invalid field requested: \"nosuch\"\n" sshare -o nosuch &&
    test_expect_code 1 sshare -M x 2>err && grep "there is one cluster, phys$" err && sshare -M phys -n >out && test "$(head -n 1 out)" = "CLUSTER: phys" &&
    fails "sshare: error: --json: not supported; use -P, or fluxq-show fair-share --json\n" sshare --json &&
    fails "sshare: error: Unrecognized argument: foo\n" sshare foo
'

test_expect_success 'sacctmgr: the lists that Open OnDemand and Snakemake read have no account that would limit a user' '
    sacctmgr -nP show users withassoc format=account,qos where user=$me cluster=phys >out 2>err &&
    test_must_be_empty out && test_must_be_empty err &&
    sacctmgr -n -s list user "$me" format=account%256 >out 2>err && test_must_be_empty out && test_must_be_empty err
'

admin=None
short='     None'
test "$(id -u)" = 0 && admin=Administrator && short=Administ+

test_expect_success 'sacctmgr: users, as columns and for programs, chosen by conditions' '
    sacctmgr show user $me >out && cat >wanted <<-END && test_cmp wanted out &&
	      User   Def Acct     Admin 
	---------- ---------- --------- 
	$(printf %10s $me)            $short 
	END
    prints "User|Def Acct|Admin\n$me||$admin\n" sacctmgr -P list users where name=$me &&
    prints "$me|$admin|\n" sacctmgr -np list user format=user,admin &&
    prints "" sacctmgr -nP show user no-such-user && prints "" sacctmgr -nP show user user=$me cluster=other &&
    prints "$me\n" sacctmgr -nP show user user=x,$me withdeleted format=us
'

limits="Share|Priority|GrpJobs|GrpNodes|GrpCPUs|GrpMem|GrpSubmit|GrpWall|GrpCPUMins|MaxJobs|MaxNodes|MaxCPUs|MaxSubmit|MaxWall|MaxCPUMins"

test_expect_success 'sacctmgr: the account, QOS, association and cluster' '
    prints "root|default root account|root\n" sacctmgr -nP show account &&
    prints "   Account                Descr                  Org \n---------- -------------------- -------------------- \n" \
        sacctmgr list acct name=none &&
    prints "Account|Descr|Org|Cluster|ParentName|User|$limits|QOS|Def QOS\nroot|default root account|root|phys|||1|||||||||||||||normal|\n" \
        sacctmgr -s show account -P &&
    prints "phys|root|||1|||||||||||||normal||\n" sacctmgr -nP show assoc tree where account=root &&
    prints "normal|0|00:00:00|||cluster|||1.000000|||||||||||||||||||\n" sacctmgr -nP show qos &&
    prints "      Name Prior     MaxWall \n---------- ----- ----------- \n    normal 0                 \n" \
        sacctmgr list qos format=name,priority%-5,MaxWall &&
    prints "phys|normal\n" sacctmgr -nP show cluster format=cluster,qos && prints "" sacctmgr -nP show cluster other
'

test_expect_success 'sacctmgr: resources, events, reservations, and what there is none of' '
    prints "cpu||1\nmem||2\nnode||4\n" sacctmgr -nP show tres && prints "mem\n" sacctmgr -nP show tres type=mem format=type &&
    prints "" sacctmgr -nP show event && fluxq-ctl drain node1 --reason "new disk" &&
    sacctmgr show event >out && cat >wanted <<-\END && test_cmp wanted out &&
	   Cluster NodeName                  TimeStart             TimeEnd  State                         Reason       User 
	---------- --------------- ------------------- ------------------- ------ ------------------------------ ---------- 
	      phys node1                       Unknown             Unknown DRAIN+                       new disk            
	END
    prints "node1|DRAINED\n" sacctmgr -nP show event nodes=node1 start=2020-01-01 format=nodename,state &&
    prints "" sacctmgr -nP show event nodes=node2 && prints "" sacctmgr -nP show event start=now+1hour &&
    scontrol create reservation reservationname=weekend start=now+1hour duration=60 nodes=node2 users=$me &&
    prints "phys|weekend|node=1\n" sacctmgr -nP show reservation format=cluster,name,tres &&
    prints "     WCKey    Cluster       User \n---------- ---------- ---------- \n" sacctmgr show wckey &&
    prints "Cluster|Account|User|Problem\n" sacctmgr -P show problem &&
    prints "Runaway Jobs: No runaway jobs found on cluster phys\n" sacctmgr show runawayjobs &&
    sacctmgr show configuration >out && grep -x "ClusterName            = phys" out
'

quote="'"

test_expect_success 'sacctmgr: wrong words in the words of Slurm, and changes are refused with the way out' '
    fails "Unknown field ${quote}nosuch$quote\n" sacctmgr show assoc format=nosuch &&
    fails " Unknown condition: nosuch=3\n Use keyword ${quote}set$quote to modify value\n" sacctmgr show user where nosuch=3 &&
    fails "No valid entity in list command\nInput line must include \"Account\", \"Association\", \"Cluster\", \"Configuration\",\n" \
        sacctmgr show nosuch &&
    fails "No valid entity in list command\n" sacctmgr list && fails "invalid keyword: nosuch\n" sacctmgr nosuch &&
    for verb in add create modify delete update remove dump load archive; do
        test_expect_code 1 sacctmgr -i $verb user foo account=bar 2>err &&
        grep "$verb: fluxq keeps no records of accounts.*fluxq.yaml" err || return 1
    done &&
    fails "sacctmgr: error: show stats: there is no database daemon; scontrol ping shows the broker\n" sacctmgr show stats &&
    fails "sacctmgr: error: --json: not supported; use -P\n" sacctmgr --json show user &&
    test_expect_code 1 sacctmgr 2>err && grep "say show and an entity" err
'

test_done
