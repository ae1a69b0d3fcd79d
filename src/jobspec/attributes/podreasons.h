/* podreasons.h - why a user's pod template cannot have a field
 */
#pragma once

/* The reason, often the option to use instead; NULL: no special reason. path:
 * "spec.containers[3].env". */
const char *podtemplate_reason (const char *path);
