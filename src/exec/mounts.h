/* mounts.h - volumes of a queue's pods, as its administrator lists them
 *
 *     mounts:
 *       - path: /home
 *         volume: {nfs: {server: fs1, path: /export/home}}
 *       - {path: /data, read-only: true, volume: {persistentVolumeClaim: {claimName: data}}}
 *
 * A list of mappings: `path`, in the pods and also on the machine of the broker and the
 * users; `volume`, one volume source as in a pod's spec, which Kubernetes checks;
 * `read-only`. A path below one of these names the same file on both sides, so the agent
 * may open it.
 */
#pragma once

#include "common/json.h"

#define MOUNTS_MAX 32

/* 0, or -EINVAL and the error in an entry. The other functions take such a list, or
 * NULL. */
int mounts_check (const json_t *list, struct error *err);
/* Whether path is dir itself, or below it, by name only. */
bool mounts_is_below (const char *path, const char *dir);
/* Whether pods see path (relative to cwd, or absolute), and with to_write: may write
 * there. By name only: links are not followed, and a path with ".." in it is not seen. */
bool mounts_see (const json_t *list, const char *cwd, const char *path, bool to_write);
/* Appends to a pod's volumes, and to a container's volumeMounts. 0 or -ENOMEM. */
int mounts_add_volumes (const json_t *list, json_t *volumes);
int mounts_add_places (const json_t *list, json_t *places);
