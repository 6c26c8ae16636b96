/* Checkpoints: the state that a run needs to resume bit for bit, in one safetensors file that PyTorch
 * users can open.
 *
 *   conv1.weight, fc1.bias ...   parameters, with PyTorch's names and shapes
 *   norm1.running_mean, .running_var, .num_batches_tracked   batch norm, as in PyTorch
 *   optimizer.0.conv1.weight     optimizer state, one tensor per slot and parameter (adam: 0 first, 1
 *                                second moments; sgd: 0 velocity)
 *   rank.1.strategy              a rank's other strategy state, in the strategy's own format
 *   rank.1.params, .optimizer    replicas of ranks other than 0, if they differ
 *   __metadata__                 progress, loss scale if there is one, facts that a resumed run must
 *                                share (checkpoint_keys.def), and xxh3: a hash of everything else
 *
 * Schema 1 is still read: it has `data_xxh3`, a hash of the tensors' bytes only, and names running
 * statistics norm1.mean and norm1.var.
 *
 * Model and optimizer are global: any number of ranks can read them, also ranks that hold a part of
 * the net. Rank sections are restored only by the same strategy on the same number of ranks; otherwise
 * they are reset with a warning. Numbers are F32 or F64, as the build computes; a build resumes only
 * from its own type. Rank 0 writes and every rank reads, so all ranks must see the file. */
#pragma once

#include <jansson.h>
#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

#include "bench/spec/spec.h"
#include "bench/workloads/checkpoint/safetensors.h"
#include "comm/strategy.h"
#include "kernels/desc/net_desc.h"
#include "kernels/layers/loss.h"

#define CHECKPOINT_SCHEMA     2
#define CHECKPOINT_NAME_BYTES (NET_NAME_MAX + 40) /* bytes of a tensor name */
#define CHECKPOINT_RESET      320                 /* bytes of a sentence with two strategy titles */

/* Parts of a net held by several ranks. `comm` holds these ranks; rank 0 of the run is its first.
 * Each rank has the listed tensors of the whole net and all its running statistics. With slices,
 * the rank in `comm` is the slice number. */
struct checkpoint_parts {
    struct range tensors;
    MPI_Comm comm;
    const struct net_desc *slice; /* description of this rank's slice; NULL: tensors are whole */
};

/* State of this rank that a checkpoint saves and restores, and the facts that a resumed run must
 * share with it. All borrowed. */
struct checkpoint_state {
    struct sync *sync;                    /* additional state of the strategy; ranks and waiter */
    const struct arenas *arenas;          /* arenas of the whole net or of this rank's part */
    const struct checkpoint_parts *parts; /* part of the net on this rank; NULL: the whole net */
    MPI_Comm comm;                        /* all ranks of the run */
    uint64_t *steps_done;
    /* Batches in the running statistics, equal for all batch-norm layers. */
    int64_t *batches_tracked;
    const struct config *config;
    const struct net_desc *desc;
    const char *data_name, *data_source;
    uint32_t samples, global_batch, epoch_steps;
    /* Whether batch and shards may change between epochs, with the number of ranks. */
    bool rescales;
};

/* First step, from 1, after which a value was not finite; 0: none. */
struct divergence {
    uint64_t step;
    char text[48]; /* such as "loss is nan" */
};

/* Position of a run between two steps. */
struct progress {
    uint64_t steps_done;  /* read from the file; checkpoint_write uses the state's */
    uint32_t epoch, step; /* next step; `step` may be one past the epoch's last */
    struct score train;   /* sum over the steps of this epoch so far */
    double *losses;       /* [n_losses] loss_sum of each rank; NULL: not in the file */
    size_t n_losses;
    /* Read from the file (train.precision fp16); checkpoint_write uses the sync's. */
    struct loss_scale loss_scale;
    struct divergence divergence; /* this rank's; in a file the first over all ranks */
    double seconds;               /* time of this epoch's steps so far */
    json_t *history;              /* `epoch` and `eval` lines of the record so far */
};

/* Checks that checkpoint_write can write its file, and the copy of checkpoint.dtype if there is
 * one. ERR_ARGUMENT if not. Rank 0 calls it. */
enum status checkpoint_check(const struct config *config, struct error *e);

/* Writes the name of the 16-bit copy: "a.bf16.safetensors" for "a.safetensors", "a.bf16" for
 * "a". */
void checkpoint_copy_path(char path[PATH_MAX], const struct config *config, const char *checkpoint);

/* Writes the state and rank 0's `progress`. Its `train` is the sum over all ranks; `losses` are the
 * terms, since a sum in another order would differ. Collective: returns when the file is on disk.
 * An older file of this name stays until then.
 *
 * Also writes the copy that checkpoint.dtype asks for, for other programs: 16-bit parameters,
 * running statistics, batch counts, no optimizer. checkpoint.resume rejects the copy, because it
 * has lost precision; checkpoint.start accepts it. */
enum status checkpoint_write(const char *path, const struct checkpoint_state *s,
                             const struct progress *progress, struct error *e);

/* Checkpoint that was read and checked, but not restored yet. */
struct checkpoint {
    struct safetensors file;
    bool weights_only;
    char prefix[CHECKPOINT_NAME_BYTES]; /* prefix removed from every weight's name; "": none */
    bool rounded;                       /* whether F64 weights are rounded to float */
    char reset[CHECKPOINT_RESET]; /* reason why rank sections are not restored; "": they are */
    struct progress progress;     /* history and losses are owned */
};

/* Reads a checkpoint of the same run: all keys of checkpoint_keys.def must be equal, and every
 * tensor must exist with the right type. ERR_DATA names key or tensor, found and expected value.
 * Not collective. Call checkpoint_close in any case. */
enum status checkpoint_open(struct checkpoint *c, const char *path,
                            const struct checkpoint_state *s, struct error *e);

/* Reads weights from a safetensors file. It must hold all weights and, except for checkpoint
 * sections, nothing else. Types: F16, BF16, F32, F64; ERR_DATA if a number exceeds `real`. Unless
 * it is a checkpoint, all names may have a common prefix. */
enum status checkpoint_open_weights(struct checkpoint *c, const char *path,
                                    const struct checkpoint_state *s, struct error *e);

/* Restores the run's state from an open checkpoint. ERR_DATA if ranks have opened different
 * checkpoints. Collective. */
enum status checkpoint_restore(const struct checkpoint *c, const struct checkpoint_state *s,
                               struct error *e);

void checkpoint_close(struct checkpoint *c);
