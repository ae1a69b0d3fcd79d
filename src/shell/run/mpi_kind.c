/* mpi_kind.c - finds out whether a program finds its other tasks by PMIx */
#include "shell/run/run.h"

#include <elf.h>
#include <fcntl.h>
#include <limits.h>
#include <sys/stat.h>

#define HEADERS_MAX 64   /* program headers that are read */
#define DYNAMIC_MAX 1024 /* entries of the dynamic section */
#define NAME_SIZE 64     /* of a library */
#define OWN_DATA (*(const char *)&(const uint16_t){ 1 } ? ELFDATA2LSB : ELFDATA2MSB)

struct program {
    int fd;
    Elf64_Phdr headers[HEADERS_MAX];
    size_t n;
};

static bool read_at (int fd, uint64_t at, void *data, size_t len)
{
    return at < INT64_MAX && pread (fd, data, len, (off_t)at) == (ssize_t)len;
}

static bool read_headers (struct program *p)
{
    Elf64_Ehdr head;

    if (!read_at (p->fd, 0, &head, sizeof (head))
        || memcmp (head.e_ident, ELFMAG, SELFMAG) != 0
        || head.e_ident[EI_CLASS] != ELFCLASS64 || head.e_ident[EI_DATA] != OWN_DATA
        || head.e_phentsize != sizeof (Elf64_Phdr) || head.e_phnum > HEADERS_MAX)
        return false;
    p->n = head.e_phnum;
    return read_at (p->fd, head.e_phoff, p->headers, p->n * sizeof (Elf64_Phdr));
}

/* The offset in the file of an address in memory. 0: none. */
static uint64_t offset_of (const struct program *p, uint64_t address)
{
    for (size_t i = 0; i < p->n; i++) {
        const Elf64_Phdr *h = &p->headers[i];
        if (h->p_type == PT_LOAD && address >= h->p_vaddr
            && address - h->p_vaddr < h->p_filesz)
            return h->p_offset + (address - h->p_vaddr);
    }
    return 0;
}

/* The library of Open MPI has another version number than MPICH's of the same name. */
static bool is_of_pmix (const char *library)
{
    return !strncmp (library, "libmpi.so.40", 12)
           || !strncmp (library, "libpmix.so.", 11);
}

static bool needs_pmix (const struct program *p, const Elf64_Dyn *dynamic, size_t n)
{
    uint64_t names = 0;

    for (size_t i = 0; i < n && dynamic[i].d_tag != DT_NULL; i++)
        if (dynamic[i].d_tag == DT_STRTAB)
            names = offset_of (p, dynamic[i].d_un.d_ptr);
    for (size_t i = 0; names && i < n && dynamic[i].d_tag != DT_NULL; i++) {
        char name[NAME_SIZE] = "";
        if (dynamic[i].d_tag != DT_NEEDED)
            continue;
        if (dynamic[i].d_un.d_val < INT32_MAX
            && pread (p->fd, name, sizeof (name) - 1,
                      (off_t)(names + dynamic[i].d_un.d_val))
                   > 0
            && is_of_pmix (name))
            return true;
    }
    return false;
}

static bool uses_pmix (int fd)
{
    struct program p = { .fd = fd };
    Elf64_Dyn dynamic[DYNAMIC_MAX];

    if (!read_headers (&p))
        return false;
    for (size_t i = 0; i < p.n; i++) {
        const Elf64_Phdr *h = &p.headers[i];
        size_t len = MIN (h->p_filesz, sizeof (dynamic));
        if (h->p_type == PT_DYNAMIC && read_at (fd, h->p_offset, dynamic, len))
            return needs_pmix (&p, dynamic, len / sizeof (Elf64_Dyn));
    }
    return false;
}

/* Opens the program as execvp() would find it. -1: not found, or no regular file. */
static int open_program (const char *name)
{
    const char *path = strchr (name, '/') ? "" : getenv ("PATH");
    char file[PATH_MAX];
    struct stat st;
    int fd = -1;

    for (; path && fd < 0; path = strchr (path, ':') ? strchr (path, ':') + 1 : NULL) {
        int len = (int)strcspn (path, ":");
        snprintf (file, sizeof (file), "%.*s%s%s", len, path, len ? "/" : "", name);
        fd = open (file, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
        if (fd >= 0 && (fstat (fd, &st) < 0 || !S_ISREG (st.st_mode))) {
            close (fd);
            fd = -1;
        }
    }
    return fd;
}

bool program_uses_pmix (const char *name)
{
    autoclose int fd = open_program (name);

    return fd >= 0 && uses_pmix (fd);
}
