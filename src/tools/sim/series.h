/* series.h - two values over time, in bounded memory
 *
 *     struct series s = { 0 };
 *     series_set (&s, now, cores_used, pending);     // from now on
 *     series_end (&s, now);
 *     s.bucket[i].used, s.bucket[i].queued           // means of i * width .. (i + 1) * width
 *
 * The buckets are equally wide. When time passes the last bucket, each two buckets become
 * one, so that, after enough time, between half of SERIES_BUCKETS and all of them are in
 * use.
 */
#pragma once

#include <stddef.h>

#define SERIES_BUCKETS 1024 /* even */

struct series {
    double width; /* seconds; 0: nothing was set yet */
    double at;    /* time up to which the buckets are filled */
    double end;
    struct series_bucket {
        double used, queued; /* sums over seconds; after series_end() means */
    } bucket[SERIES_BUCKETS];
    double used, queued; /* now */
    double queued_max;
    size_t n; /* of buckets, after series_end() */
};

/* now: seconds from 0, never decreasing. */
void series_set (struct series *s, double now, double used, double queued);
void series_end (struct series *s, double now);
