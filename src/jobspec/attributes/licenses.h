/* licenses.h - the licenses that a job asks for, by name
 *
 *     struct gres_list asked;
 *     rc = licenses_parse ("matlab:2,ansys@server1", &asked, "--licenses", &err);
 *     gres_get (&asked, "matlab");      // 2
 *     gres_release (&asked);
 *
 * Licenses are counted for the whole site, not for a node. A list is a gres_list: sorted
 * by names, each name once, no count of 0. The text form is Slurm's (sbatch(1), -L). In a
 * jobspec it is attributes.system.fluxq.licenses.
 */
#pragma once

#include "common/gres.h"

#define LICENSES_TEXT_MAX 1024       /* bytes of a list */
#define LICENSE_COUNT_MAX 1000000000 /* of one name */

/* 1 to 63 letters, digits and "_-./@", a letter or digit first. */
bool license_name_is_valid (const char *name);
/* Parse "NAME[:COUNT]" or "NAME[=COUNT]", separated by ',' or ';'. COUNT is 1 by default;
 * counts of equal names are added. Errors begin with where: -EINVAL, -ERANGE, -ENOMEM;
 * ret is then empty. */
int licenses_parse (const char *text, struct gres_list *ret, const char *where,
                    struct error *err);
