/* fortify.h - the checks of _FORTIFY_SOURCE, as the agent's C library has none
 *
 * The agent's makefile rule includes this header before every source (-include). A call
 * that would write beyond the end of an object whose size gcc knows
 * (__builtin_object_size, mode 0) ends the agent by a trap (SIGILL) before anything is
 * written. If the length is constant and fits, no check remains in the code. With another
 * compiler, or without optimization, the calls are those of the C library. The
 * declarations follow those of glibc's headers for _FORTIFY_SOURCE.
 */
#pragma once

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#if defined(__OPTIMIZE__) && defined(__GNUC__) && !defined(__clang__)

#define FORTIFY                                                                          \
    extern __inline __attribute__ ((__always_inline__, __gnu_inline__, __artificial__))
#define FORTIFY_CHECK(to, len)                                                           \
    do {                                                                                 \
        if ((len) > __builtin_object_size ((to), 0))                                     \
            __builtin_trap ();                                                           \
    } while (0)

FORTIFY void *memcpy (void *restrict to, const void *restrict from, size_t len)
{
    FORTIFY_CHECK (to, len);
    return __builtin_memcpy (to, from, len);
}

FORTIFY void *memmove (void *to, const void *from, size_t len)
{
    FORTIFY_CHECK (to, len);
    return __builtin_memmove (to, from, len);
}

FORTIFY void *memset (void *to, int byte, size_t len)
{
    FORTIFY_CHECK (to, len);
    return __builtin_memset (to, byte, len);
}

FORTIFY int vsnprintf (char *restrict to, size_t size, const char *restrict fmt, va_list ap)
{
    FORTIFY_CHECK (to, size);
    return __builtin_vsnprintf (to, size, fmt, ap);
}

FORTIFY int snprintf (char *restrict to, size_t size, const char *restrict fmt, ...)
{
    FORTIFY_CHECK (to, size);
    return __builtin_snprintf (to, size, fmt, __builtin_va_arg_pack ());
}

ssize_t fortify_read (int fd, void *to, size_t len) __asm__ ("read");
ssize_t fortify_recv (int fd, void *to, size_t len, int flags) __asm__ ("recv");

FORTIFY ssize_t read (int fd, void *to, size_t len)
{
    FORTIFY_CHECK (to, len);
    return fortify_read (fd, to, len);
}

FORTIFY ssize_t recv (int fd, void *to, size_t len, int flags)
{
    FORTIFY_CHECK (to, len);
    return fortify_recv (fd, to, len, flags);
}

#endif
