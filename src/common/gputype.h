/* gputype.h - types of GPUs, such as "a100"
 *
 * A node tells the type of its GPUs in its vendor's words ("NVIDIA-A100-SXM4-80GB"), and
 * a user names one or some of these words ("a100", "A100_SXM4"). Both are compared in one
 * form: lower case, words with '-' between them.
 *
 *     char type[GPU_TYPE_MAX + 1];
 *     gpu_type_read ("NVIDIA-A100-SXM4-80GB", type);      // "nvidia-a100-sxm4-80gb"
 *     char **names = gpu_type_names (type);               // "gpu:nvidia", "gpu:a100", ...
 */
#pragma once

#include <stdbool.h>

#define GPU_TYPE_MAX 63
/* The type of a resource, and the property of nodes, of GPUs of a type begin with this. */
#define GPU_TYPE_PREFIX "gpu:"
#define GPU_TYPE_NAMES_MAX 21 /* of six words */

/* Writes the type in the form of comparison. 0; -EINVAL: text has no letter or digit, or
 * is too long. */
int gpu_type_read (const char *text, char ret[GPU_TYPE_MAX + 1]);
/* All names for a type that gpu_type_read() has written, as properties: each run of its
 * words, of the first six, and the whole. NULL-terminated; the caller frees it with
 * free(), alone. NULL: no memory. */
char **gpu_type_names (const char *type);
/* Whether the type has that name, which gpu_type_read() has written. */
bool gpu_type_has_name (const char *type, const char *name);
