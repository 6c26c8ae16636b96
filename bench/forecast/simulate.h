/* Simulates launches of points with site: simulated. The time of each step is drawn from calibrated
 * steps, or computed from FLOPs and compute.rate. comm/cost/sweep.h predicts when messages end. */
#pragma once

#include <stdbool.h>
#include <stdio.h>

#include "kernels/base/error.h"

/* Simulates the launch in folder RUN/launches/POINT/NAME, writes simulated.json there, and prints
 * the time of a step. Random numbers depend only on POINT and NAME. `calibration`: folder of a
 * launch that measured the times of ops; NULL: the last launch of the point's calibration in the
 * run or, if there is none, the point's compute.rate. `why`: whether to print the critical path
 * too. ERR_ARGUMENT if the run has no simulated point POINT. */
enum status simulate_launch(FILE *out, const char *folder, const char *calibration, bool why,
                            struct error *e);
/* Simulates every simulated point of the run in folder `run` again. If a measured point has the
 * same compute and messages as a simulated point, prints its measured (summary.csv) and simulated
 * step times. Writes no files. Compute times are the mean times of the point's calibration; the
 * backward time is divided among the layers by their FLOPs. Points without a calibration use
 * compute.rate. `set`: options that replace the run's values, one per line; or NULL. */
enum status simulate_again_print(FILE *out, const char *run, const char *set, struct error *e);
