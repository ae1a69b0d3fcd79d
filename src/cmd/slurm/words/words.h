/* words.h - values in Slurm's words: times, durations, sizes, states, reasons
 *
 * This folder holds the forms that Slurm's commands share: formats (format.h), records of
 * Key=value (record.h), pairs of words (pairs.h), and these values. Values of the broker
 * come in, text goes out. The folder knows no command.
 */
#pragma once

#include "common/strbuf.h"

/* Appends unix time t: as 2026-11-20T12:19:18, or as $SLURM_TIME_FORMAT says ("standard",
 * "relative", or a format of strftime() of at most 31 bytes); "N/A" for t <= 0. */
void slurm_add_time (struct strbuf *sb, double t);
/* Whether $SLURM_TIME_FORMAT can be used; else the standard is. */
bool slurm_time_format_is_valid (void);
/* Appends seconds as "1-02:03:04", "2:03:04" or "3:04"; "INVALID" if negative or longer
 * than a year. */
void slurm_add_seconds (struct strbuf *sb, double seconds);
/* Appends the time of now as "Fri Nov 27 09:44:09 2026" and an end of line: the first line
 * of long lists. */
void slurm_add_date (struct strbuf *sb);
/* Appends a number as "1023", "1K", "1.50K": larger units while no digit is lost; convert
 * false: always all digits. */
void slurm_add_count (struct strbuf *sb, double n, bool convert);
/* Appends MiB as "100M", "4G", "2.50G": larger units while no digit is lost; convert
 * false: always "4096M". 0 is "0". */
void slurm_add_mib (struct strbuf *sb, double mib, bool convert);
/* Appends ",license/matlab=2,license/ansys=1" for "matlab:2,ansys"; "": nothing. */
void slurm_add_licenses (struct strbuf *sb, const char *licenses);
/* Whether word is the long or short name of a state of Slurm, in any case. *ret: the long
 * name. */
bool slurm_state_find (const char *word, const char **ret);
/* Appends the long names in lower case, with `between` between them. */
void slurm_state_add_names (struct strbuf *sb, const char *between);
/* The reason of a waiting job: the broker's word in Slurm's words. */
const char *slurm_reason (const char *reason);
/* The reason of an ended job, from its short state and its wait status (see wait(2); < 0:
 * unknown). */
const char *slurm_end_reason (const char *st, int status);
/* Whether the word is one of a list with commas, in any case; "" is in none. */
bool slurm_list_has (const char *list, const char *word);
