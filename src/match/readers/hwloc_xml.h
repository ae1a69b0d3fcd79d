/* hwloc_xml.h - a topology in hwloc's XML, checked before libhwloc gets it
 *
 *     struct strbuf plain;
 *     strbuf_init (&plain, HWLOC_XML_MAX);
 *     if (hwloc_xml_clean (text, len, &plain, &err) < 0) ...
 *     // err.text: "line 7: PU: cpuset: required but missing"
 *
 * libhwloc trusts its input: it gives no place when it rejects a text, and does not check
 * all of its assumptions. So libxml2 reads the text here, and libhwloc gets a text
 * written again: objects and their infos, with the attributes that make a graph, and
 * nothing else (no distances, attributes of memory, user data). Versions 1 and 2.
 */
#pragma once

#include "common/error.h"
#include "common/strbuf.h"

#define HWLOC_XML_MAX (64 << 20) /* bytes, of both texts */
#define HWLOC_XML_DEPTH_MAX 64   /* levels of nested objects */
#define HWLOC_XML_OBJECTS_MAX (1u << 17)
#define HWLOC_XML_CHILDREN_MAX (1u << 13) /* of one object; hwloc iterates over them */
#define HWLOC_XML_INDEX_MAX 65535         /* number of a PU or NUMA node */

/* Appends the clean text. 0, -EINVAL, -E2BIG, -ENOMEM. */
int hwloc_xml_clean (const char *text, size_t len, struct strbuf *sb, struct error *err);
