#include "comm/compress.h"

/* `none` needs a table entry, but its functions are never called */
const struct compressor compressor_none = {0};

#define COMPRESSOR(name, flags, source, summary) extern const struct compressor compressor_##name;
#include "comm/cost/compressors.def"

static const struct compressor *const COMPRESSOR_TABLE[] = {
#define COMPRESSOR(name, flags, source, summary) &compressor_##name,
#include "comm/cost/compressors.def"
};

const struct compressor *compressor_get(enum compressor_kind kind)
{
    return kind == COMPRESSOR_none ? NULL : COMPRESSOR_TABLE[kind];
}

struct span span_of(const struct arenas *a, struct range tensors)
{
    if (tensors.first >= tensors.last)
        return (struct span){0};
    const struct tensor_desc *first = &a->tensors[tensors.first];
    const struct tensor_desc *last = &a->tensors[tensors.last - 1];
    return (struct span){.begin = first->offset, .n = last->offset + last->count - first->offset};
}
