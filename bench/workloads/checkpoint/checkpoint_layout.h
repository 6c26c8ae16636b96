/* Which tensor of a checkpoint lies where in the arenas. */
#pragma once

#include "bench/workloads/checkpoint/checkpoint.h"

#ifdef SCALEBENCH_F64
#define REAL_DTYPE "F64"
#else
#define REAL_DTYPE "F32"
#endif

/* The model first, which is counts of batches, parameters and running statistics; then slot after
 * slot of the optimizer, then the sections that are added. Numbers of 8 bytes lie before those of 4
 * before bytes: PyTorch's reader wants each at a multiple of its size. */
struct layout {
    struct safetensors_tensor *tensors; /* data points into the arenas */
    char (*names)[CHECKPOINT_NAME_BYTES];
    size_t n, n_model;
};

/* Of s->arenas, which stay the run's, with room for `sections` more; arenas without memory give tensors without
 * data. */
enum status layout_open(struct layout *layout, const struct checkpoint_state *s, size_t sections,
                        struct error *e);
void layout_close(struct layout *layout);

/* Adds "rank.<rank>.<what>" of `rows` x `columns`, or of `columns` alone where rows is 0. */
void layout_add_section(struct layout *layout, int rank, const char *what, const char *dtype,
                        size_t rows, size_t columns, const void *data);

/* Hash of a file's tensors, names, types and shapes included, and of its metadata but for `xxh3`,
 * where it goes itself. ERR_MEMORY. */
enum status layout_hash(const struct safetensors_tensor *tensors, size_t n, const json_t *metadata,
                        uint64_t *hash, struct error *e);
