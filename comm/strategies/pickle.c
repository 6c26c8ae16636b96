#include "comm/strategies/pickle.h"

#include <inttypes.h>

size_t pickle_size(const struct sync *s)
{
    return pickle_bytes(s->counts, (size_t)s->arenas.n_tensors, sizeof(real));
}

void pickle_dump(struct sync *s, unsigned char *bytes)
{
    for (int i = 0; i < s->arenas.n_tensors; i++) {
        const struct tensor_desc *tensor = &s->arenas.tensors[i];
        struct pickle_header header = {(uint64_t)i, tensor->count};
        sync_copy(s, bytes, &header, sizeof header);
        bytes += sizeof header;
        sync_copy(s, bytes, s->arenas.grads + tensor->offset, tensor->count * sizeof(real));
        bytes += tensor->count * sizeof(real);
    }
}

static enum status check_header(const struct pickle_header *header, int i,
                                const struct tensor_desc *tensor, struct error *e)
{
    if (header->tensor == (uint64_t)i && header->count == tensor->count)
        return OK;
    return error_set(e, ERR_MPI,
                     "pickled gradient: tensor %" PRIu64 " of %" PRIu64
                     " numbers where tensor %d (%s) of %zu should be",
                     header->tensor, header->count, i, tensor->name, tensor->count);
}

enum status pickle_load(struct sync *s, const unsigned char *bytes, size_t size, real *grads,
                        struct error *e)
{
    if (size != pickle_size(s))
        return error_set(e, ERR_MPI, "pickled gradient: %zu bytes instead of %zu", size,
                         pickle_size(s));
    for (int i = 0; i < s->arenas.n_tensors; i++) {
        const struct tensor_desc *tensor = &s->arenas.tensors[i];
        struct pickle_header header;
        sync_copy(s, &header, bytes, sizeof header);
        TRY(check_header(&header, i, tensor, e));
        bytes += sizeof header;
        sync_copy(s, grads + tensor->offset, bytes, tensor->count * sizeof(real));
        bytes += tensor->count * sizeof(real);
    }
    return OK;
}
