/* tasklabel.h - the label before each line of output with --label, as in srun
 *
 *     char label[TASKLABEL_MAX];
 *     size_t len = tasklabel (label, 7, 16); // "07: "
 *
 * The number is as wide as the largest task number, with leading zeros, so that lines
 * align and sort. Pure.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#define TASKLABEL_MAX 13 /* ten digits, ": " and NUL */

/* Writes the label of one of ntasks tasks; returns its length. */
size_t tasklabel (char label[TASKLABEL_MAX], uint32_t task, uint32_t ntasks);
