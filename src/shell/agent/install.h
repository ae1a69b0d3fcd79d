/* install.h - fluxq-shell install: copies this program, under all its names, to a
 * directory
 *
 *     fluxq-shell install /fluxq/bin 5f2c... /fluxq/job/script
 *                                           in an init container, see exec/kube/make/objects.c
 *
 * For clusters that do not execute files from a ConfigMap. The program is in an image and
 * copies itself to a directory that the job's containers see; it copies the named files
 * to the same directory, where they can be executed. The digest is the SHA-256 of the
 * broker's own agent, or its first digits: a program of another version copies nothing,
 * as broker and agent must use the same protocol. Repeating the call is harmless.
 */
#pragma once

/* Exit status: 0, 1 (cannot be written), 2 (usage), INSTALL_REFUSED (another version). */
int install_main (int argc, char **argv);
