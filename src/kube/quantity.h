/* quantity.h - Kubernetes quantities ("100m", "1.5Gi", "2e3") as integers, exactly
 *
 *     int64_t milli;
 *     if (quantity_milli ("1500m", &milli) == 0) ...   // 1500 thousandths of a core
 *
 * Fractions that the unit cannot show round up, as Kubernetes does. Results saturate at
 * INT64_MAX. Source: k8s.io/apimachinery, api/resource/quantity.go (the grammar in its
 * comment). No locale, no floating point.
 */
#pragma once

#include <stdint.h>

/* 0, or -EINVAL: text (may be NULL) is no quantity, or is negative, which no quantity
 * that we read may be. *ret is untouched then. */
int quantity_milli (const char *text, int64_t *ret); /* thousandths: processors */
int quantity_value (const char *text, int64_t *ret); /* whole units: bytes, devices */
