/* adminrun.h - fluxq-shell admin-run: runs an administrator's prolog or epilog with
 * limits
 *
 *     fluxq-shell admin-run --program /etc/fluxq/prolog --timeout 60 --report FILE \
 *         --set FLUXQ_JOB_ID=12 ...
 *
 * The program runs as the caller's user, in a session of its own, in /, without input.
 * Its environment has only PATH and the variables of --set. The first 16 KiB of its
 * output go to standard error. The program fails if it exits with a status other than 0,
 * ends by a signal, cannot be executed, or is not done in time. Then FILE gets the
 * reason, one line, and our exit status is ADMINRUN_FAILED. Processes that it leaves in
 * its session are killed.
 *
 * fluxqd sends mail in the same way, with --input, --argument, and --user if it is root:
 * the program then runs as that user without further groups, and none of its output is
 * passed on, as the user could have written it; FILE or standard error gets its first
 * line in the reason of a failure.
 */
#pragma once

int adminrun_main (int argc, char **argv);
