/* Simulates launches of points with site: simulated. The time of each step is drawn from calibrated
 * steps, or computed from FLOPs and compute.rate. comm/cost/sweep.h predicts when messages end. */
#pragma once

#include <stdbool.h>
#include <stdio.h>

#include "kernels/base/error.h"

/* Simulates the launch in folder RUN/launches/POINT/NAME, writes simulated.json there, and prints
 * the time of a step. Random numbers depend only on POINT and NAME. `calibration`: folder of the
 * launch with the times of ops; NULL: compute.rate of the point, or a calibration launch of the
 * run. `why`: whether to print the critical path too. ERR_ARGUMENT if the run has no simulated
 * point POINT. */
enum status simulate_launch(FILE *out, const char *folder, const char *calibration, bool why,
                            struct error *e);
/* Simulates every simulated point of the run in folder `run` again. Prints simulated step times
 * beside the measured ones of summary.csv. Writes no files. Compute times are the mean times of the
 * point's calibration, divided among the layers by their FLOPs. Points without a calibration use
 * compute.rate. `set`: options that replace the run's values, one per line; or NULL. */
enum status simulate_again_print(FILE *out, const char *run, const char *set, struct error *e);
