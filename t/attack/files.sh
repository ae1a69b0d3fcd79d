# shellcheck shell=sh
# files.sh: attacks through files: job directories, output and input paths, the broker's directories;
# included by t1091-attack.t.

attack 'journal, job directory, spool, key and launch file of the job are closed to another user' '
    for file in journal.db history.db jobs/$job/spool-0 jobs/$job/key-0 jobs/$job/launch-0 jobs/$job/hostfile; do
        test -f "$BROKER_STATE/$file" && denied cat "$BROKER_STATE/$file" && denied sh -c ": >>\"$BROKER_STATE/$file\"" || return 1
    done &&
    denied ls "$BROKER_STATE" && denied ls "$BROKER_STATE/jobs" && denied ls "$BROKER_STATE/jobs/$job" &&
    denied mv "$BROKER_STATE/jobs/$job" "$BROKER_STATE/jobs/0" && denied mkdir "$BROKER_STATE/jobs/999" && denied ln -s /etc "$BROKER_STATE/jobs/999"
'
attack 'another user cannot replace the broker'\''s socket or its directory' '
    denied rm -f "$FLUXQ_RUN/fluxqd.sock" && denied mv "$FLUXQ_RUN/fluxqd.sock" "$FLUXQ_RUN/shared/s" &&
    denied ln -sf /dev/null "$FLUXQ_RUN/fluxqd.sock" && denied mkdir "$FLUXQ_RUN/state/x" &&
    victim fluxq queue >/dev/null
'
# ends ARGS...: a job of the attacker with these options ends, however.
ends()
{
    id=$(attacker fluxq submit "$@") && wait_job_state $id "COMPLETED|FAILED|NODE_FAIL"
}
attack 'output and input paths that lead to files of the victim are opened as the attacker' '
    ends -o "$victim/precious" -- echo taken && test "$(job_state $id)" = FAILED &&
    ends -o "$victim/new" -- echo taken && test ! -e "$victim/new" &&
    attacker ln -sf "$victim/precious" link && ends -o link -- echo taken && ends -o /dev/null -e link -- sh -c "echo taken >&2" &&
    attacker ln -sfn "$victim" dir && ends -o dir/precious -- echo taken &&
    ends -i "$victim/precious" -o got.txt -- cat && ends -D "$victim" -o "$attacker/cwd.txt" -- cat precious &&
    test_must_fail grep -r "data of the victim" "$attacker" && untouched
'
attack 'a hard link, a FIFO and a device in place of the attacker'\''s output change nothing of the victim' '
    ln "$victim/precious" "$attacker/hard" && ends -o hard -- echo taken && untouched && rm "$attacker/hard" &&
    attacker mkfifo fifo && ends -o fifo -- echo taken && test "$(job_state $id)" = FAILED &&
    mknod "$attacker/device" b 7 0 && chown t-attacker "$attacker/device" && chmod 000 "$attacker/device" && ends -o device -- echo taken && rm "$attacker/device"
'
attack 'links, FIFOs and files that wait at the victim'\''s output path in a shared directory get no output' '
    for kind in link fifo file; do
        rm -rf "$FLUXQ_RUN/shared/out.txt" "$attacker/loot" && attacker touch loot && attacker chmod 666 loot &&
        case $kind in
        link) attacker ln -s "$attacker/loot" "$FLUXQ_RUN/shared/out.txt" ;;
        fifo) attacker mkfifo -m 666 "$FLUXQ_RUN/shared/out.txt" ;;
        file) attacker sh -c "umask 0; : >\"$FLUXQ_RUN/shared/out.txt\"" ;;
        esac &&
        id=$(victim fluxq submit -o "$FLUXQ_RUN/shared/out.txt" -- echo secret-output) && wait_job_state $id FAILED &&
        test ! -s "$attacker/loot" && { test $kind = fifo || test_must_fail grep secret-output "$FLUXQ_RUN/shared/out.txt"; } || return 1
    done
'
attack 'a job that replaces the files of its own directory by links and FIFOs reaches no other file' '
    cat >"$attacker/swap.sh" <<-END &&
	cd "$BROKER_STATE/jobs/\$FLUXQ_JOB_ID" || exit
	for name in spool-0 launch-0 key-0 hostfile; do rm -f \$name; ln -s "$victim/precious" \$name; done
	END
    id=$(attacker fluxq submit --no-requeue -o /dev/null -- sh swap.sh) && wait_job_state $id "COMPLETED|FAILED|NODE_FAIL" &&
    { attacker timeout 20 fluxq logs $id >text 2>&1 || test $? -lt 124; } && test_must_fail grep "data of the victim" text &&
    id=$(attacker fluxq submit --no-requeue -o /dev/null -- sh -c "cd $BROKER_STATE/jobs/\$FLUXQ_JOB_ID && rm spool-0 && mkfifo spool-0") &&
    wait_job_state $id "COMPLETED|FAILED|NODE_FAIL" && { attacker timeout 20 fluxq logs $id >text 2>&1 || test $? -lt 124; } && untouched
'
attack 'a job name that is a path, and one with control characters, write no file of the victim' '
    ends -J "../../victim/precious" -o "%x" -- echo taken && untouched &&
    test_must_fail attacker fluxq submit -J "$(printf "a\033]0;x\007")" -o /dev/null -- true 2>err && grep "control characters" err
'
