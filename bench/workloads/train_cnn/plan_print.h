/* Prints the plan of a network op by op: `train_cnn --describe-plan`. */
#pragma once

#include <stdio.h>

#include "bench/spec/spec.h"

/* Prints one line per op, as planned on this machine: kind, layers, FLOPs per image as written and
 * as computed, and savings. Savings are the work that the plan skips or does in a cheaper way
 * (savings.def). Then prints totals and memory per image. FLOPs exclude the gradient with respect
 * to the images, which is never computed. Returns the errors that a run returns for the model, the
 * instruction set, tuning and memory. */
enum status plan_print(FILE *out, const struct config *config, struct error *e);
