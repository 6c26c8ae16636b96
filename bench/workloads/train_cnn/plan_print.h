/* What a run would compute, op by op of its plan: `train_cnn --describe-plan`. */
#pragma once

#include <stdio.h>

#include "bench/spec/spec.h"

/* Prints, for the model, kernels.plan and kernels.tune of the options on this machine, a line an
 * op: its kind, layers, FLOPs of an image forward and backward as written and as done, and what
 * it leaves out; then what each of these words means. Neither count has the gradient of the images,
 * which nobody reads. The errors are those of a run. */
enum status plan_print(FILE *out, const struct config *config, struct error *e);
