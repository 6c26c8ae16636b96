/* What a checkpoint says of the run that wrote it, so that no other run goes on with it. */
#pragma once

#include <jansson.h>

#include "bench/workloads/checkpoint/checkpoint.h"

/* Adds every key of checkpoint_keys.def with what this run has. */
enum status checkpoint_keys_add(json_t *metadata, const struct checkpoint_state *s,
                                struct error *e);

/* ERR_DATA names the first key that differs, the checkpoint's value and the run's. */
enum status checkpoint_keys_compare(const struct safetensors *file,
                                    const struct checkpoint_state *s, struct error *e);
