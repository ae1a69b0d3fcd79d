/* tasklabel.h - what stands before each line of output with --label, as srun has it
 *
 *     char label[TASKLABEL_MAX];
 *     size_t len = tasklabel (label, 7, 16); // "07: "
 *
 * As wide as the largest number of a task, with zeros in front, so that lines stand in
 * columns and sort. Pure.
 */
#ifndef FLUXQ_SHELL_TASKLABEL_H
#define FLUXQ_SHELL_TASKLABEL_H

#include <stddef.h>
#include <stdint.h>

#define TASKLABEL_MAX 13 /* ten digits, ": " and NUL */

/* The label of one of ntasks tasks; returns its length. */
size_t tasklabel (char label[TASKLABEL_MAX], uint32_t task, uint32_t ntasks);

#endif
