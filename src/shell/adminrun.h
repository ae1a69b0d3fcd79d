/* adminrun.h - fluxq-shell admin-run: an administrator's prolog or epilog, within bounds
 *
 *     fluxq-shell admin-run --program /etc/fluxq/prolog --timeout 60 --report FILE \
 *         --set FLUXQ_JOB_ID=12 ...
 *
 * The program runs as whoever runs this, in a session of its own, in /, with nothing in its
 * environment but PATH and what is set here, and with no input. What it writes goes to
 * standard error, the first 16 KiB of it. It has failed when it ends with another status
 * than 0, by a signal, cannot be executed, or is not done in time; then the reason, one
 * line, is in FILE, and our own status is ADMINRUN_FAILED. What it leaves behind in its
 * session is killed.
 */
#ifndef FLUXQ_SHELL_ADMINRUN_H
#define FLUXQ_SHELL_ADMINRUN_H

int adminrun_main (int argc, char **argv);

#endif
