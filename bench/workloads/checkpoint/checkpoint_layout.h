/* Lists the tensors of a checkpoint file, with the address in memory of each tensor's data. */
#pragma once

#include "bench/workloads/checkpoint/checkpoint.h"

#ifdef SCALEBENCH_F64
#define REAL_DTYPE "F64"
#else
#define REAL_DTYPE "F32"
#endif

/* Tensors of a checkpoint, in the order of the file: batch counts, parameters, running statistics,
 * optimizer slots, state of single ranks (layout_add_section). This order aligns all tensors, as
 * PyTorch's reader requires: 8-byte numbers come first, single bytes last. */
struct layout {
    /* [n] tensors in the order of the file, with borrowed `data` */
    struct safetensors_tensor *tensors;
    char (*names)[CHECKPOINT_NAME_BYTES];
    size_t n, n_model;
};

/* Lists the batch counts and the tensors of s->arenas. Their data are borrowed. Leaves room for
 * `sections` more tensors (layout_add_section). If an arena has no memory, `data` of its tensors is
 * NULL. */
enum status layout_open(struct layout *layout, const struct checkpoint_state *s, size_t sections,
                        struct error *e);
void layout_close(struct layout *layout);

/* Adds the tensor "rank.<rank>.<what>", which has state of one rank. Its shape is [rows, columns],
 * or [columns] if rows is 0. */
void layout_add_section(struct layout *layout, int rank, const char *what, const char *dtype,
                        size_t rows, size_t columns, const void *data);

/* Hashes a file's tensors (names, types, shapes, data) and its metadata except `xxh3`, which stores
 * this hash. ERR_MEMORY if memory runs out. */
enum status layout_hash(const struct safetensors_tensor *tensors, size_t n, const json_t *metadata,
                        uint64_t *hash, struct error *e);
