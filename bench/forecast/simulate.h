/* Simulates launches of points with site: simulated. Each step of a rank takes the time of a
 * calibrated step, drawn at random, or the time of the network's FLOPs at compute.rate.
 * comm/cost/sweep.h predicts when the messages of a step end. */
#pragma once

#include <stdbool.h>
#include <stdio.h>

#include "kernels/base/error.h"

/* Simulates the launch whose folder is RUN/launches/POINT/NAME, writes its results to
 * simulated.json in this folder, and prints the time of a step. Random numbers depend only on POINT
 * and NAME. `calibration`: folder of the launch with the times of ops; NULL: the times come from
 * the point's compute.rate, or from a calibration launch of the run. `why`: whether to print the
 * critical path too. ERR_ARGUMENT if the run has no simulated point POINT. */
enum status simulate_launch(FILE *out, const char *folder, const char *calibration, bool why,
                            struct error *e);
/* Simulates every simulated point of the run in folder `run` again, from its spec.yaml and
 * summary.csv, and prints simulated step times beside measured ones. Writes no files. Compute times
 * are the means of the run's calibrations, divided among the layers by their FLOPs. `set`: values
 * of options that replace the run's values, one option per line; or NULL. */
enum status simulate_again_print(FILE *out, const char *run, const char *set, struct error *e);
