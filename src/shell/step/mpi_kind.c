/* mpi_kind.c - finds out whether a program finds its other tasks by PMIx */
#include "shell/step/steps_private.h"

#include <elf.h>
#include <fcntl.h>
#include <limits.h>
#include <sys/stat.h>

#include "protocol/pmix_helper.h"
#include "shell/step/step_pmix.h"

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

/* Opens a regular file; name is relative to the directory dir of cwd. -1: there is none. */
static int open_in (const char *cwd, const char *dir, int len, const char *name)
{
    char file[PATH_MAX];
    struct stat st;
    const char *from = name[0] == '/' || (len > 0 && dir[0] == '/') ? "" : cwd;
    int n = snprintf (file, sizeof (file), "%s%s%.*s%s%s", from, *from ? "/" : "", len,
                      dir, len ? "/" : "", name);
    int fd = n < (int)sizeof (file) ? open (file, O_RDONLY | O_NONBLOCK | O_CLOEXEC) : -1;

    if (fd < 0 || (fstat (fd, &st) == 0 && S_ISREG (st.st_mode)))
        return fd;
    close (fd);
    return -1;
}

static const char *path_of (char *const *env, size_t n)
{
    for (size_t i = n; i > 0; i--)
        if (!strncmp (env[i - 1], "PATH=", 5))
            return env[i - 1] + 5;
    return "";
}

/* Opens the program of a part as execvp() would find it. */
static int open_program (const struct step_spec *spec, const struct step_spec *part)
{
    const char *name = part->args[0];
    size_t nenv;
    char *const *env = step_spec_env (spec, part->component, &nenv);
    int fd = -1;

    if (strchr (name, '/'))
        return open_in (part->cwd, "", 0, name);
    for (const char *dir = path_of (env, nenv); fd < 0 && *dir; dir += *dir == ':') {
        int len = (int)strcspn (dir, ":");
        fd = open_in (part->cwd, dir, len, name);
        dir += len;
    }
    return fd;
}

static bool part_uses_pmix (const struct step_spec *spec, const struct step_spec *part)
{
    autoclose int fd = part->nargs > 0 ? open_program (spec, part) : -1;

    return fd >= 0 && uses_pmix (fd);
}

static bool step_uses_pmix (const struct step_spec *spec)
{
    bool uses = part_uses_pmix (spec, spec);

    for (size_t i = 0; i < spec->nparts && !uses; i++)
        uses = part_uses_pmix (spec, &spec->parts[i]);
    return uses;
}

void steps_choose_mpi (struct steps *steps, struct step *step)
{
    static const char lacks[] =
        "the program finds its other tasks by PMIx, which needs " PMIX_HELPER
        ", and that "
        "is not installed here: start the program with mpirun";
    char path[PATH_MAX];

    if (step->spec.mpi || !step_uses_pmix (&step->spec))
        return;
    if (steppmix_program (path) == 0)
        step->spec.mpi = strdup ("pmix"); /* no memory: as without PMIx */
    else
        steps_to_client (step, steps, WIRE_RUN_NOTE, 0, lacks, sizeof (lacks) - 1);
}
