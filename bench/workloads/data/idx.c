#include <inttypes.h>

#include "bench/workloads/data/array_file.h"

/* magic number of a file of unsigned bytes; the number of dimensions is added to it */
#define MAGIC_BYTES 0x00000800u

static uint32_t number_at(const uint8_t *bytes)
{
    return (uint32_t)array_number(bytes, 4, true);
}

static bool are_images(uint32_t n_dims)
{
    return n_dims == 3 || n_dims == 4;
}

static enum status check_magic(const struct array_file *file, uint32_t magic, struct error *e)
{
    uint32_t n_dims = magic ^ MAGIC_BYTES, wanted = file->is_images ? 3 : 1;
    if (file->is_images ? are_images(n_dims) : n_dims == 1)
        return OK;
    if (n_dims == 1 || are_images(n_dims))
        return array_error_swapped(file, "byte 0", e);
    return error_at(e, ERR_DATA, file->path, 0, 0,
                    "byte 0: magic number 0x%08" PRIx32 ", expected 0x%08" PRIx32
                    " (unsigned bytes, %" PRIu32 " dimension%s)",
                    magic, MAGIC_BYTES | wanted, wanted, wanted == 1 ? "" : "s");
}

static enum status read_header(struct array_file *file, const uint8_t *bytes, size_t n,
                               struct error *e)
{
    file->n_dims = file->is_images ? 3 : 1;
    if (n >= 4) {
        TRY(check_magic(file, number_at(bytes), e));
        file->n_dims = (int)(number_at(bytes) ^ MAGIC_BYTES);
    }
    file->header_bytes = 4 + 4 * (size_t)file->n_dims;
    file->items = (struct array_items){.bytes = 1};
    if (n < file->header_bytes)
        return array_error_header_cut(file, file->header_bytes, n, e);
    for (int d = 0; d < file->n_dims; d++)
        file->dims[d] = number_at(bytes + 4 + 4 * d);
    return OK;
}

const struct array_format array_format_idx = {.name = "IDX", .read_header = read_header};
