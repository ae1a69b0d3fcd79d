/* install.h - fluxq-shell install: this program, under all its names, into a directory
 *
 *     fluxq-shell install /fluxq/bin 5f2c... /fluxq/job/script
 *                                            in an init container, see exec/kube/objects.c
 *
 * For clusters where nothing may be executed that came by a ConfigMap: the program is in an
 * image, and copies itself to where the job's containers see it, and beside itself the files
 * that are named, which may be executed there. The digest is the SHA-256
 * of the broker's own agent, or the first digits of it: of another version nothing is
 * copied, as broker and agent must speak the same language. Done twice it is done once.
 */
#ifndef FLUXQ_SHELL_INSTALL_H
#define FLUXQ_SHELL_INSTALL_H

/* Exit status: 0, 1 (cannot be written), 2 (usage), INSTALL_REFUSED (another version). */
int install_main (int argc, char **argv);

#endif
