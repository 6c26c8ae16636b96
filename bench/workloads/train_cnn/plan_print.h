/* Prints the plan of a network op by op: `train_cnn --describe-plan`. */
#pragma once

#include <stdio.h>

#include "bench/spec/spec.h"

/* Prints kind, layers, FLOPs per image (as written and as computed) and savings of each op as
 * planned on this machine, then totals and memory per image. FLOPs exclude the gradient with
 * respect to the images, which is never computed. Returns the same errors as a run. */
enum status plan_print(FILE *out, const struct config *config, struct error *e);
