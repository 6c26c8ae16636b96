/* Checkpoints: what a run needs to go on as if it had never stopped, in one safetensors file that
 * PyTorch's users can open.
 *
 *   conv1.weight, fc1.bias ...   parameters, names and shapes as PyTorch has them
 *   norm1.running_mean, .running_var, .num_batches_tracked   of batch norm, the same
 *   optimizer.0.conv1.weight     optimizer state, a tensor a slot and parameter (adam: 0 first, 1
 *                                second moments; sgd: 0 velocity)
 *   rank.1.strategy              what the strategy of a rank keeps besides, as it likes
 *   rank.1.params, .optimizer    replicas of ranks other than 0, where they differ
 *   __metadata__                 where the run stands, its loss scale if it has one, every fact that a
 *                                resumed run must share (checkpoint_keys.def), and xxh3: a hash of all
 *                                the rest
 *
 * Schema 1 had `data_xxh3` instead, a hash of the tensors' bytes alone, and called running
 * statistics norm1.mean and norm1.var; such files are read.
 *
 * The first three are global: any number of ranks can read them, also where each holds a part of the net. The sections of ranks are taken up
 * only by the same strategy on the same number of ranks; otherwise they are reset, and the run says
 * so. Numbers are F32 or F64 as the build computes; a file of the other type is refused, but for its weights alone. Rank 0
 * writes; every rank reads, so the file lies where all see it, as data and models do. */
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
#define CHECKPOINT_NAME_BYTES (NET_NAME_MAX + 40) /* of a tensor */
#define CHECKPOINT_RESET      320 /* bytes of a sentence with two titles of strategies */

/* What a rank has of a net that lies in parts on several: tensors of the whole, all its running statistics, and
 * those ranks, of which rank 0 of the run is the first. Where each has a slice of some tensors, the rank's number in
 * comm is that of its slice. */
struct checkpoint_parts {
    struct range tensors;
    MPI_Comm comm;
    const struct net_desc *slice; /* NULL: tensors are whole */
};

/* What is saved of a run on this rank and put back, and the facts that a resumed run must share with
 * it. All is borrowed. */
struct checkpoint_state {
    struct sync *sync;           /* what the strategy keeps besides its arenas; ranks and waiter */
    const struct arenas *arenas; /* of the net, or of this rank's part of it */
    const struct checkpoint_parts *parts; /* NULL: every rank has the whole net */
    MPI_Comm comm;                        /* all ranks of the run */
    uint64_t *steps_done;
    int64_t *batches_tracked; /* that went into the running statistics; of every such layer */
    const struct config *config;
    const struct net_desc *desc;
    const char *data_name, *data_source;
    uint32_t samples, global_batch, epoch_steps;
    bool rescales; /* between two epochs others may have had another batch and other shards */
};

/* The first step, from 1, after which something was not finite; 0: none. */
struct divergence {
    uint64_t step;
    char text[48]; /* "loss is nan" */
};

/* Where a run stands between two steps. */
struct progress {
    uint64_t steps_done;  /* as read; checkpoint_write takes the state's */
    uint32_t epoch, step; /* the next step; `step` may be past the epoch's last one */
    struct score train;   /* of this epoch's steps so far */
    double *losses;       /* [n_losses] the loss_sum of each rank; NULL: the file has none */
    size_t n_losses;
    struct loss_scale
        loss_scale; /* as read, of train.precision fp16; checkpoint_write takes the sync's */
    struct divergence divergence; /* of this rank; in a file the first of all of them */
    double seconds;               /* that they took */
    json_t *history;              /* lines `epoch` and `eval` of the record so far */
};

/* Whether checkpoint_write will find its file writable, and the copy of checkpoint.dtype where there is one.
 * ERR_ARGUMENT when not. For rank 0. */
enum status checkpoint_check(const struct config *config, struct error *e);

/* The name of that copy: "a.bf16.safetensors" of "a.safetensors", "a.bf16" of "a". */
void checkpoint_copy_path(char path[PATH_MAX], const struct config *config, const char *checkpoint);

/* Writes the state and rank 0's `progress`, whose train is the sum over all ranks and whose losses are those that it is
 * made of: added up in another order they would be another number. Behind it the copy that checkpoint.dtype asks for, for
 * other programs: parameters in 16 bits, running statistics and counts of batches as they are, no optimizer. What it has
 * lost of the parameters no run could go on without: checkpoint.resume refuses it, checkpoint.start takes it. An older file of this name stays until the new one is on the disk. Collective: returns when it is. */
enum status checkpoint_write(const char *path, const struct checkpoint_state *s,
                             const struct progress *progress, struct error *e);

/* A checkpoint that has been read and found to fit, but not taken over yet. */
struct checkpoint {
    struct safetensors file;
    bool weights_only;
    char prefix[CHECKPOINT_NAME_BYTES]; /* left out before the name of every weight; "": nothing */
    bool rounded;                       /* weights of F64 become float */
    char reset[CHECKPOINT_RESET]; /* why the sections of ranks are not taken up; empty: they are */
    struct progress progress;     /* its history and losses are owned */
};

/* Reads a checkpoint of this very run: what checkpoint_keys.def lists must be equal, every tensor
 * there and of its type. ERR_DATA names the key or tensor, what was found and what was expected.
 * Not collective. Closed with checkpoint_close, also after an error. */
enum status checkpoint_open(struct checkpoint *c, const char *path,
                            const struct checkpoint_state *s, struct error *e);

/* Reads the weights alone, from any safetensors file that has them all and, but for sections of a checkpoint, nothing
 * else. Weights may be F16, BF16, F32 or F64 (ERR_DATA where one is beyond the range of `real`), and but in a
 * checkpoint all names may have one prefix more than the model's. */
enum status checkpoint_open_weights(struct checkpoint *c, const char *path,
                                    const struct checkpoint_state *s, struct error *e);

/* Makes what was opened the run's state. ERR_DATA when ranks have opened different checkpoints.
 * Collective. */
enum status checkpoint_restore(const struct checkpoint *c, const struct checkpoint_state *s,
                               struct error *e);

void checkpoint_close(struct checkpoint *c);
