/* Writes and compares the facts that identify a checkpoint's run, so that no other run resumes from
 * the checkpoint. */
#pragma once

#include <jansson.h>

#include "bench/workloads/checkpoint/checkpoint.h"

/* Adds this run's facts (rows of checkpoint_keys.def) to a checkpoint's metadata. Skips a row if
 * its function `counts` returns false. */
enum status checkpoint_keys_add(json_t *metadata, const struct checkpoint_state *s,
                                struct error *e);

/* Compares the checkpoint's facts with this run's values. Skips facts on which the run does not
 * depend. If the run is elastic and the checkpoint was written between two epochs (progress.step is
 * 0), also skips facts that an elastic run may change. ERR_DATA names the first key that differs
 * and both values, or the first required key that is missing. */
enum status checkpoint_keys_compare(const struct safetensors *file,
                                    const struct checkpoint_state *s, struct error *e);
