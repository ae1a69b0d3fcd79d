/* relro.c - makes tables of pointers read-only after the start */
#include "shell/agent/relro.h"

#include <link.h>
#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

/* The linker ends the part that may be read-only at the end of a page. */
static int protect (struct dl_phdr_info *info, size_t size, void *arg)
{
    uintptr_t page = (uintptr_t)sysconf (_SC_PAGESIZE);
    (void)size;
    (void)arg;
    for (size_t i = 0; i < info->dlpi_phnum; i++) {
        const ElfW (Phdr) *part = &info->dlpi_phdr[i];
        uintptr_t from = info->dlpi_addr + part->p_vaddr;
        uintptr_t to = (from + part->p_memsz) & ~(page - 1);
        from &= ~(page - 1);
        if (part->p_type == PT_GNU_RELRO && to > from)
            mprotect ((void *)from, to - from, PROT_READ);
    }
    return 1; /* the program itself is the first entry */
}

void relro_protect (void)
{
    dl_iterate_phdr (protect, NULL);
}
