/* podprint.h - the fingerprint of a set of pods: the pods of its node that an agent knew
 *
 *     hash[n++] = podprint_of ("fluxq", "fluxq-c-12-0-1");
 *     podprint_sign (hash, n, text);            // "pfp0v001e477a4e3b2fc0ec6"
 *
 * XXH64 of the pods' hashes in their order, each the XXH64 of the name with that of the
 * namespace as its seed.
 * Source: version 1 of github.com/k8stopologyawareschedwg/podfingerprint; the XXH64
 * specification of github.com/Cyan4973/xxHash. No allocation.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#define PODPRINT_SIZE 25 /* with the final 0 */

uint64_t podprint_xxh64 (const void *data, size_t len, uint64_t seed);
uint64_t podprint_of (const char *namespace_, const char *name);
/* hash: n hashes, which the function sorts. */
void podprint_sign (uint64_t *hash, size_t n, char ret[PODPRINT_SIZE]);
