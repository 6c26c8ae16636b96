/* Checkpoints: the state that a run needs to resume bit for bit, in one safetensors file that
 * PyTorch users can open.
 *
 *   conv1.weight, fc1.bias ...   parameters, with PyTorch's names and shapes
 *   norm1.running_mean, .running_var, .num_batches_tracked   batch norm, as in PyTorch
 *   optimizer.0.conv1.weight     optimizer state, one tensor per slot and parameter (adam: slot 0
 *                                first, slot 1 second moments; sgd: slot 0 velocity)
 *   rank.1.strategy              strategy state of one rank, in the strategy's own format
 *   rank.1.params, .optimizer    replica of rank 1 if replicas differ; the model above is
 *                                the replica of rank 0
 *   __metadata__                 progress, loss scale if there is one, facts that a resumed run
 *                                must share (checkpoint_keys.def), and xxh3: a hash of all other
 *                                content
 *
 * Files of schema 1 are still read. They have `data_xxh3`, a hash of the tensors' bytes only, and
 * name running statistics norm1.mean and norm1.var.
 *
 * Parameters and optimizer state are stored whole, so any number of ranks can read them. Sections
 * of ranks (rank.*) are restored only with the same strategy on the same number of ranks; otherwise
 * they are reset with a warning. Numbers are F32 or F64, the type in which the build computes; a
 * build resumes only from its own type. Rank 0 writes the file and every rank reads it, so all
 * ranks must see the same file system. */
#pragma once

#include <jansson.h>
#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

#include "bench/base/safetensors.h"
#include "bench/spec/spec.h"
#include "comm/strategy.h"
#include "kernels/desc/net_desc.h"
#include "kernels/layers/loss.h"

#define CHECKPOINT_SCHEMA     2
#define CHECKPOINT_NAME_BYTES (NET_NAME_MAX + 40) /* bytes of a tensor name */
#define CHECKPOINT_RESET      320                 /* bytes of the text `reset` below */

/* This rank's part of a network that is divided among several ranks. `comm`: the ranks that
 * together hold one replica of the network. Only the replica of the run's rank 0 is saved; that
 * rank is also rank 0 of `comm`. `tensors`: range of the network's tensors on this rank. If tensors
 * are sliced, rank i of `comm` has slice i of each. Every rank's array of running statistics has
 * the size for the whole network. */
struct checkpoint_parts {
    struct range tensors;
    MPI_Comm comm;
    /* network description with this rank's slice of each tensor; NULL: tensors are whole */
    const struct net_desc *slice;
};

/* State of this rank that a checkpoint saves and restores, and the facts that must be equal in a
 * run that resumes from the checkpoint. All pointers are borrowed. */
struct checkpoint_state {
    struct sync *sync; /* strategy, with its state, communicator and loss scale */
    /* parameters and optimizer state of the whole network, or of this rank's part */
    const struct arenas *arenas;
    const struct checkpoint_parts *parts; /* NULL: this rank has the whole network */
    MPI_Comm comm;                        /* all ranks of the run */
    uint64_t *steps_done;
    /* Number of batches in the running statistics of batch norm, equal for all layers. */
    int64_t *batches_tracked;
    const struct config *config;
    const struct net_desc *desc;
    const char *data_name, *data_source;
    uint32_t samples, global_batch, epoch_steps;
    /* Whether the run is elastic: the number of ranks, and with it batch and shards, may change
     * between epochs. */
    bool rescales;
};

/* First infinite or NaN value of training. `step`: step after which the value was found, counted
 * from 1; 0: no such value. */
struct divergence {
    uint64_t step;
    char text[48]; /* value that diverged, such as "loss is nan" */
};

/* Progress of a run between two steps: position, sums of the current epoch, loss scale, divergence
 * and history. */
struct progress {
    /* steps done, as read from a checkpoint; checkpoint_write saves checkpoint_state.steps_done
     * instead */
    uint64_t steps_done;
    /* current epoch, counted from 0, and number of its steps that are done (possibly all) */
    uint32_t epoch, step;
    struct score train; /* loss and correct images, summed over the steps of this epoch so far */
    double *losses;     /* [n_losses] each rank's sum of losses; NULL: not in the file */
    size_t n_losses;
    /* loss scale (fp16), as read from a checkpoint; checkpoint_write saves the loss scale of
     * checkpoint_state.sync instead */
    struct loss_scale loss_scale;
    /* first infinite or NaN value on this rank (divergence); in a file: the earliest one of all
     * ranks */
    struct divergence divergence;
    double seconds;  /* time of this epoch's steps so far (s) */
    json_t *history; /* lines `epoch` and `eval` in the record so far */
};

/* Checks that checkpoint_write will be able to write its file, and the 16-bit copy if
 * checkpoint.dtype asks for one. ERR_ARGUMENT if not. Call on rank 0 only. */
enum status checkpoint_check(const struct config *config, struct error *e);

/* Formats the path of the 16-bit copy of a checkpoint. For example, with checkpoint.dtype = bf16:
 * "a.bf16.safetensors" for "a.safetensors", "a.bf16" for "a". */
void checkpoint_copy_path(char path[PATH_MAX], const struct config *config, const char *checkpoint);

/* Writes the state and rank 0's `progress` to `path`. progress->train must be summed over all
 * ranks. progress->losses has the loss sum of each rank, so that sums of a resumed run round as in
 * an uninterrupted run. An older file at `path` is kept until the new file is complete. Collective:
 * returns when the file is on disk.
 *
 * If checkpoint.dtype is not f32, also writes a copy for other programs: parameters in 16 bits,
 * running statistics and batch counts, no optimizer state. checkpoint.start accepts the copy,
 * checkpoint.resume rejects it. */
enum status checkpoint_write(const char *path, const struct checkpoint_state *s,
                             const struct progress *progress, struct error *e);

/* Checkpoint that was read and checked, but not restored yet. */
struct checkpoint {
    struct safetensors file;
    bool weights_only;
    char prefix[CHECKPOINT_NAME_BYTES]; /* prefix removed from every weight's name; "": none */
    bool rounded;                       /* whether reading rounds weights from F64 to F32 */
    /* warning with the reason why the tensors rank.* are not restored; "": no warning */
    char reset[CHECKPOINT_RESET];
    struct progress progress; /* progress of the run that wrote the file; checkpoint_close frees its
                                 `history` and `losses` */
};

/* Reads a checkpoint of the same run. Facts that identify the run must match
 * (checkpoint_keys_compare). All tensors except batch counts must exist, with the right type.
 * ERR_DATA names the fact or tensor. Not collective. Call checkpoint_close in any case. */
enum status checkpoint_open(struct checkpoint *c, const char *path,
                            const struct checkpoint_state *s, struct error *e);

/* Reads weights of type F16, BF16, F32 or F64 from a safetensors file. Ignores optimizer state and
 * tensors named rank.<rank>.<what>. All names may share a prefix, as in files of other programs.
 * ERR_DATA if a weight is missing or has the wrong shape or type, if a tensor is unknown, or if a
 * number is outside the range of `real`. */
enum status checkpoint_open_weights(struct checkpoint *c, const char *path,
                                    const struct checkpoint_state *s, struct error *e);

/* Restores the state of the run from an open checkpoint. ERR_DATA if ranks have opened different
 * checkpoints. Collective. */
enum status checkpoint_restore(const struct checkpoint *c, const struct checkpoint_state *s,
                               struct error *e);

void checkpoint_close(struct checkpoint *c);
