/* torture.h - memory that runs out at a given allocation, for one test program
 *
 *     TORTURE (n) {                      // n counts from 0 until no allocation failed
 *         int rc = what_allocates ();
 *         torture_stop ();
 *         assert_int_equal (rc, torture_failed () ? -ENOMEM : 0);
 *     }
 *
 * The program is linked with TORTURE_FLAGS (Makefile.am), so that the allocations of src/
 * go through this file. Include it once in a program, because it defines them.
 */
#pragma once

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

/* Allocations until one fails; < 0: none does. Volatile: compilers assume that malloc() does
 * not touch these variables. */
static volatile long torture_countdown = -1;
static volatile bool torture_has_failed;

static bool torture_fails (void)
{
    if (torture_countdown < 0 || torture_countdown-- > 0)
        return false;
    torture_has_failed = true;
    errno = ENOMEM;
    return true;
}

/* True if there is another run; makes its allocation n fail. */
static inline bool torture_next (long n)
{
    if (n > 0 && !torture_has_failed)
        return false;
    torture_has_failed = false;
    torture_countdown = n;
    return true;
}

static inline void torture_stop (void)
{
    torture_countdown = -1;
}

static inline bool torture_failed (void)
{
    return torture_has_failed;
}

#define TORTURE(n) for (long n = 0; torture_next (n); n++)

/* names for the linker */
void *__real_malloc (size_t size);
void *__wrap_malloc (size_t size);
void *__real_calloc (size_t n, size_t size);
void *__wrap_calloc (size_t n, size_t size);
void *__real_realloc (void *p, size_t size);
void *__wrap_realloc (void *p, size_t size);
char *__real_strdup (const char *s);
char *__wrap_strdup (const char *s);
char *__real_strndup (const char *s, size_t n);
char *__wrap_strndup (const char *s, size_t n);

void *__wrap_malloc (size_t size)
{
    return torture_fails () ? NULL : __real_malloc (size);
}

void *__wrap_calloc (size_t n, size_t size)
{
    return torture_fails () ? NULL : __real_calloc (n, size);
}

void *__wrap_realloc (void *p, size_t size)
{
    return torture_fails () ? NULL : __real_realloc (p, size);
}

char *__wrap_strdup (const char *s)
{
    return torture_fails () ? NULL : __real_strdup (s);
}

char *__wrap_strndup (const char *s, size_t n)
{
    return torture_fails () ? NULL : __real_strndup (s, n);
}
