/* mail.h - about which events of a job mail is sent, and to whom
 *
 *     unsigned types;
 *     rc = mail_types_parse ("BEGIN,END,TIME_LIMIT_80", &types, "--mail-type", &err);
 *     if (types & MAIL_BEGIN) ...
 *     rc = mail_user_check ("ann@example.org,bob", "--mail-user", &err);
 *
 * The words are Slurm's (sbatch(1), --mail-type). In a jobspec they are
 * attributes.system.fluxq.mail-type and .mail-user.
 */
#pragma once

#include "common/error.h"

enum mail_type {
    MAIL_BEGIN = 1 << 0,
    MAIL_END = 1 << 1,
    MAIL_FAIL = 1 << 2,
    MAIL_REQUEUE = 1 << 3,
    MAIL_INVALID_DEPEND = 1 << 4,
    MAIL_TIME_LIMIT = 1 << 5,
    MAIL_TIME_LIMIT_90 = 1 << 6,
    MAIL_TIME_LIMIT_80 = 1 << 7,
    MAIL_TIME_LIMIT_50 = 1 << 8,
    MAIL_ARRAY_TASKS = 1 << 9, /* of each task of an array, not of the array as a whole */
};

#define MAIL_TEXT_MAX 255 /* bytes of a list of types */
#define MAIL_USER_MAX 512 /* bytes of a list of addresses */
#define MAIL_ADDRESSES_MAX 8

/* Parse a list of types, separated by ',', in any case. ALL: BEGIN, END, FAIL, REQUEUE and
 * INVALID_DEPEND. NONE: no types at all. -EINVAL: err begins with where. */
int mail_types_parse (const char *text, unsigned *ret, const char *where,
                      struct error *err);
/* The name of one type, "BEGIN". */
const char *mail_type_name (enum mail_type type);
/* Check a list of addresses, separated by ',': letters, digits and "._%+=-", with at most
 * one '@' each. So an address needs no quotes in a header or on a command line. -EINVAL:
 * err begins with where. */
int mail_user_check (const char *text, const char *where, struct error *err);
