/* Writes and compares the facts that identify a checkpoint's run, so that no other run resumes from
 * the checkpoint. */
#pragma once

#include <jansson.h>

#include "bench/workloads/checkpoint/checkpoint.h"

/* Adds all facts of checkpoint_keys.def, with this run's values, to a checkpoint's metadata. */
enum status checkpoint_keys_add(json_t *metadata, const struct checkpoint_state *s,
                                struct error *e);

/* Compares the checkpoint's keys with this run's values. ERR_DATA names the first key that differs
 * and both values. */
enum status checkpoint_keys_compare(const struct safetensors *file,
                                    const struct checkpoint_state *s, struct error *e);
