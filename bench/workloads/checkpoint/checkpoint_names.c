#include "bench/workloads/checkpoint/checkpoint_names.h"

#include <stdlib.h>
#include <string.h>

#include "kernels/base/mem.h"

long names_section_rank(const char *name, const char **what)
{
    char *end;
    if (strncmp(name, "rank.", 5) != 0 || name[5] < '0' || name[5] > '9')
        return -1;
    long rank = strtol(name + 5, &end, 10);
    *what = end + 1;
    return *end == '.' ? rank : -1;
}

bool names_a_section(const char *name)
{
    const char *what;
    return strncmp(name, "optimizer.", 10) == 0 || names_section_rank(name, &what) >= 0;
}

/* ---- Prefixes ---- */

/* Returns the length of the longest common prefix of all names in the file. */
static size_t common_bytes(const struct safetensors *file)
{
    const char *first = file->tensors[0].name;
    size_t n = strnlen(first, CHECKPOINT_NAME_BYTES - 1);
    for (size_t i = 1; i < file->n; i++)
        while (strncmp(file->tensors[i].name, first, n) != 0)
            n--;
    return n;
}

/* Returns how many tensor names in the file, without their first `bytes` bytes, are names of the
 * model's n tensors. */
static size_t count_found(const struct safetensors *file, size_t bytes,
                          const struct safetensors_tensor *model, size_t n)
{
    size_t found = 0;
    for (size_t i = 0; i < file->n; i++)
        for (size_t k = 0; k < n; k++)
            found += strcmp(file->tensors[i].name + bytes, model[k].name) == 0;
    return found;
}

static size_t best_prefix(const struct safetensors *file, const struct safetensors_tensor *model,
                          size_t n)
{
    size_t best = 0, most = count_found(file, 0, model, n), common = common_bytes(file);
    for (size_t bytes = 1; bytes <= common; bytes++) {
        bool ends = file->tensors[0].name[bytes - 1] == '.';
        size_t found = ends ? count_found(file, bytes, model, n) : 0;
        if (found > most) {
            most = found;
            best = bytes;
        }
    }
    return best;
}

void names_leave_out_prefix(struct safetensors *file, const struct safetensors_tensor *model,
                            size_t n, char prefix[CHECKPOINT_NAME_BYTES])
{
    prefix[0] = '\0';
    if (file->n == 0 || names_a_section(file->tensors[0].name))
        return;
    size_t bytes = best_prefix(file, model, n);
    snprintf(prefix, CHECKPOINT_NAME_BYTES, "%.*s", (int)bytes, file->tensors[0].name);
    for (size_t i = 0; i < file->n; i++)
        file->tensors[i].name += bytes;
}

/* ---- Nearest name ---- */

static bool layout_knows(const struct layout *layout, const char *name)
{
    for (size_t i = 0; i < layout->n; i++)
        if (strcmp(layout->tensors[i].name, name) == 0)
            return true;
    return false;
}

/* Returns the first tensor name in the file that ends with `name` and is longer; NULL if there is
 * none. Ignores names of optimizer state and of rank.* sections. */
static const char *prefixed(const struct safetensors *file, const char *name)
{
    size_t n = strlen(name);
    for (size_t i = 0; i < file->n; i++) {
        const char *longer = file->tensors[i].name;
        size_t bytes = strlen(longer);
        if (bytes > n && strcmp(longer + bytes - n, name) == 0 && !names_a_section(longer))
            return longer;
    }
    return NULL;
}

/* Writes names of the file's tensors to `known`: every name if `all`, otherwise only names that are
 * not in `layout`. Returns the number of names written. */
static size_t list_names(const char **known, const struct safetensors *file,
                         const struct layout *layout, bool all)
{
    size_t n = 0;
    for (size_t i = 0; i < file->n; i++)
        if (all || !layout_knows(layout, file->tensors[i].name))
            known[n++] = file->tensors[i].name;
    return n;
}

char *names_near(char text[NAME_NEAR_BYTES], const char *name, const struct safetensors *file,
                 const struct layout *layout)
{
    const char **known, *longer = prefixed(file, name);
    text[0] = '\0';
    if (longer != NULL)
        snprintf(text, NAME_NEAR_BYTES, "; nearest '%s'", longer);
    if (longer != NULL || MEM_NEW(known, file->n, "names of tensors", NULL) != OK)
        return text;
    for (int all = 0; all < 2 && text[0] == '\0'; all++)
        name_near(text, name, known, list_names(known, file, layout, all));
    free(known);
    return text;
}
