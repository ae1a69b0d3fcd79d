/* yaml.h - a YAML file as JSON values, with line and column for errors
 *
 *     struct yaml_doc *doc = yaml_load (text, len, "fluxq.yaml", &err);
 *     json_t *root = yaml_root (doc);                        // borrowed
 *     return yaml_error (doc, json_object_get (root, "queues"), NULL, err, "no list");
 *
 * One document, of at most 4 MiB, 64 levels and 1,000,000 nodes. Anchors and aliases (no
 * bombs), tags and duplicate keys are refused. Plain scalars follow the YAML 1.2 core
 * schema (null, true/false, integers, floats, else strings); quoted scalars are strings;
 * infinity and not-a-number are refused, as JSON has neither. An empty text is null.
 */
#pragma once

#include "common/json.h"

struct yaml_doc;

/* NULL on error: "NAME:LINE:COLUMN: reason". */
struct yaml_doc *yaml_load (const char *text, size_t len, const char *name,
                            struct error *err);
struct yaml_doc *yaml_load_file (const char *path, struct error *err);
void yaml_destroy (struct yaml_doc *doc);
json_t *yaml_root (const struct yaml_doc *doc); /* borrowed */
/* error_set with "NAME:LINE:COLUMN: " before the text: the place where the value (a
 * reference of the tree itself) begins, or where the key stands in that object (key NULL:
 * the value itself). Line and column are 1-based. "NAME: ": the value is not in this
 * document, or it is null, true or false, which jansson shares: name these by key.
 * Returns -EINVAL. */
int yaml_error (const struct yaml_doc *doc, const json_t *value, const char *key,
                struct error *err, const char *fmt, ...) PRINTF_LIKE (5, 6);
