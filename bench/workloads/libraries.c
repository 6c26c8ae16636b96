#include "bench/workloads/libraries.h"

#include <elf.h>
#include <inttypes.h>
#include <link.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#define XXH_INLINE_ALL /* makes xxhash.h include its code, so that no library is linked */
#include <xxhash.h>

/* Adds the build id among the ELF notes `notes` to the hash. Returns false if there is none. Names
 * and contents of notes are padded to multiples of four bytes. */
static bool add_build_id(XXH3_state_t *state, const char *notes, size_t size)
{
    ElfW(Nhdr) note;
    for (size_t at = 0; at + sizeof note <= size;) {
        memcpy(&note, notes + at, sizeof note);
        const char *name = notes + at + sizeof note;
        const char *contents = name + ((note.n_namesz + 3) & ~3u);
        if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == 4 && memcmp(name, "GNU", 4) == 0) {
            XXH3_64bits_update(state, contents, note.n_descsz);
            return true;
        }
        at = (size_t)(contents - notes) + ((note.n_descsz + 3) & ~3u);
    }
    return false;
}

/* Adds one loaded library to the hash. Skips entries without a path: the program itself and the
 * kernel's virtual library (vDSO). */
static int add_library(struct dl_phdr_info *info, size_t size, void *state)
{
    struct stat s;
    if (strchr(info->dlpi_name, '/') == NULL)
        return 0;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *header = &info->dlpi_phdr[i];
        if (header->p_type == PT_NOTE &&
            add_build_id(state, (const char *)(info->dlpi_addr + header->p_vaddr), header->p_memsz))
            return 0;
    }
    if (stat(info->dlpi_name, &s) == 0) {
        const int64_t file[] = {s.st_size, s.st_mtim.tv_sec, s.st_mtim.tv_nsec};
        XXH3_64bits_update(state, file, sizeof file);
    }
    return 0;
}

void libraries_hash(char hex[LIBRARIES_HASH_BYTES])
{
    XXH3_state_t state;
    XXH3_64bits_reset(&state);
    dl_iterate_phdr(add_library, &state);
    snprintf(hex, LIBRARIES_HASH_BYTES, "%016" PRIx64, XXH3_64bits_digest(&state));
}
