/* Prints the plan of a network op by op: `train_cnn --describe-plan`. */
#pragma once

#include <stdio.h>

#include "bench/spec/spec.h"

/* Prints one line per op for the model, kernels.plan and kernels.tune on this machine: kind,
 * layers, FLOPs per image (of the network as written, and as computed) and savings. Explanations of
 * the savings follow. FLOPs do not include the gradient of the images, since it is never computed.
 * Returns the same errors as a run. */
enum status plan_print(FILE *out, const struct config *config, struct error *e);
