/* dump.h - the graph as text for a drawing program or another graph library
 *
 * For -o BASE -g dot|graphml: all vertices, edges of the tree and of the further
 * subsystems that matches use.
 */
#pragma once

#include "tools/match/session.h"

/* Writes opt->dump_base with the format's suffix: 0, or -errno with the file. */
int dump_graph (const struct session *s, struct error *err);
