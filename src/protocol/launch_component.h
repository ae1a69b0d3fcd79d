/* launch_component.h - the further components of a heterogeneous job in the launch file
 *
 * Each has a record "component", which consists of records: the number of its nodes, its
 * values (struct launch_component), and "env" for each variable. The nodes of the
 * components follow one another; those that no record counts are of component 0. For
 * launch.c only.
 */
#pragma once

#include "protocol/launch.h"
#include "protocol/record.h"

#define LAUNCH_COMPONENTS_MAX 63

/* Appends the component that a record describes. 0, -EINVAL or -ENOMEM. */
int launch_component_read (struct launch *l, const struct record *r, struct error *err);
/* All records are read: sets the component of each node. -EINVAL: too few nodes. */
int launch_component_settle (struct launch *l, struct error *err);
/* Appends the records. -EINVAL: a number is out of range, or no NAME=VALUE. */
int launch_component_write (const struct launch *l, struct strbuf *sb);
void launch_component_release (struct launch *l);
