/* no_memory.h - the broker stops rather than lose something that it has accepted
 *
 *     if (!(c->ok = idset_copy (a->ok)))
 *         broker_no_memory ("a dependency");
 *
 * For memory that runs out where neither an answer nor a later try can tell of it. The
 * journal has everything, so the next broker goes on where this one stopped. To be
 * included before uthash.h, whose tables otherwise end the process without a word.
 */
#pragma once

_Noreturn void broker_no_memory (const char *what);

#define uthash_fatal(msg) broker_no_memory ("an entry of a table")
