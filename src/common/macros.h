/* macros.h - small helpers that every file may use, with the headers of the C library
 * that nearly every file needs. A file does not repeat an #include of its own header, of
 * a header of common/, or of the header that a whole folder builds on
 * (broker/core/broker.h, broker/core/service.h, exec/kube/core/state.h).
 *
 *   autofree char *text = strbuf_detach (&sb);   // freed at the end of the scope
 *   autoclose int fd = open (...);               // closed when >= 0
 */
#pragma once

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define ARRAY_SIZE(a) (sizeof (a) / sizeof ((a)[0]))
#define MIN(a, b) ((a) < (b) ? (a) : (b))
#define MAX(a, b) ((a) > (b) ? (a) : (b))
#define PRINTF_LIKE(fmt, args) __attribute__ ((format (printf, fmt, args)))
#define CONTAINER_OF(ptr, type, member)                                                  \
    ((type *)(void *)((char *)(ptr)-offsetof (type, member)))

static inline void macros_freep (void *p)
{
    free (*(void **)p);
}

static inline void macros_closep (int *fd)
{
    if (*fd >= 0)
        close (*fd);
}

static inline void macros_fclosep (FILE **f)
{
    if (*f)
        fclose (*f);
}

/* Frees a list of strings that ends with NULL; NULL: none. */
static inline void free_strings (char **list)
{
    for (size_t i = 0; list && list[i]; i++)
        free (list[i]);
    free (list);
}

/* For qsort() and bsearch(). */
static inline int compare_u32 (const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

    return (x > y) - (x < y);
}

static inline int compare_u64 (const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

    return (x > y) - (x < y);
}

/* Makes room for `need` elements of `size` bytes in an array that doubles as it grows, and
 * that its owner frees. array: the address of the pointer to it. *alloc: number of elements
 * with room. -ENOMEM: the array is unchanged.
 *
 *   if (array_reserve (&list->v, &list->alloc, list->n + 1, sizeof (*list->v)) < 0) ... */
static inline int array_reserve (void *array, size_t *alloc, size_t need, size_t size)
{
    if (need <= *alloc)
        return 0;
    size_t more = MAX (2 * *alloc, MAX (need, 8));
    void *p;
    memcpy (&p, array, sizeof (p)); /* a pointer of any type */
    if (!(p = realloc (p, more * size)))
        return -ENOMEM;
    memcpy (array, &p, sizeof (p));
    *alloc = more;
    return 0;
}

#define autofree __attribute__ ((cleanup (macros_freep)))
#define autoclose __attribute__ ((cleanup (macros_closep)))
#define autofclose __attribute__ ((cleanup (macros_fclosep)))
