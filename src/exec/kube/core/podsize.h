/* podsize.h - the amounts that a pod holds of its node (core/v1 PodSpec), as the kubelet
 * and kube-scheduler count them
 *
 * The larger of: the sum over containers and sidecars (init containers with restartPolicy
 * Always); the largest ordinary init container with the sidecars before it. Plus
 * overhead. A pod-level request (spec.resources) replaces the containers' sum.
 * A container that is being resized in place holds the larger of its old and new size.
 * Source: k8s.io/component-helpers, resource/helpers.go, PodRequests.
 */
#pragma once

#include <jansson.h>
#include <stdint.h>

struct podsize {
    int64_t cpu_milli, memory, gpus; /* memory in bytes */
};

/* The largest amount that a pod counts for: 1 Pi of bytes, so that a sum of 8191 pods
 * fits. */
#define PODSIZE_MAX ((int64_t)1 << 50)

/* Unreadable quantities count as 0. All sums saturate. */
struct podsize podsize_of (const json_t *pod, const char *gpu_resource);
struct podsize podsize_add (struct podsize a, struct podsize b);
struct podsize podsize_sub (struct podsize a, struct podsize b);
