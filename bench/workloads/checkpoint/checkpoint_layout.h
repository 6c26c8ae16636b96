/* Maps tensors of a checkpoint to the arenas. */
#pragma once

#include "bench/workloads/checkpoint/checkpoint.h"

#ifdef SCALEBENCH_F64
#define REAL_DTYPE "F64"
#else
#define REAL_DTYPE "F32"
#endif

/* Tensors of a checkpoint. First the model: batch counts, parameters, running statistics. Then
 * optimizer slots and added sections. Numbers of 8 bytes come before those of 4 and before bytes,
 * because PyTorch's reader needs aligned tensors. */
struct layout {
    struct safetensors_tensor *tensors; /* data points into the arenas */
    char (*names)[CHECKPOINT_NAME_BYTES];
    size_t n, n_model;
};

/* Lists the tensors of s->arenas, which are borrowed, with room for `sections` more. Arenas without
 * memory give tensors without data. */
enum status layout_open(struct layout *layout, const struct checkpoint_state *s, size_t sections,
                        struct error *e);
void layout_close(struct layout *layout);

/* Adds section "rank.<rank>.<what>" of shape [rows, columns], or [columns] if rows is 0. */
void layout_add_section(struct layout *layout, int rank, const char *what, const char *dtype,
                        size_t rows, size_t columns, const void *data);

/* Hashes a file's tensors (names, types, shapes, data) and its metadata except `xxh3`, which stores
 * this hash. ERR_MEMORY. */
enum status layout_hash(const struct safetensors_tensor *tensors, size_t n, const json_t *metadata,
                        uint64_t *hash, struct error *e);
