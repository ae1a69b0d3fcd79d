/* podreasons.h - why a user's pod template may not have a field
 */
#ifndef FLUXQ_JOBSPEC_PODREASONS_H
#define FLUXQ_JOBSPEC_PODREASONS_H

/* path: "spec.containers[3].env". The reason, often the option that says the same; NULL: none
 * in particular. */
const char *podtemplate_reason (const char *path);

#endif
