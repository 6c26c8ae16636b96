/* Divides a simulated step time among causes along the critical path. For each cause, the launch is
 * simulated again with the same random numbers and the cause's times increased by one part in
 * 10,000. The cause's share (ms) is the increase of the step time, times 10,000. The shares add up
 * to the step time. */
#pragma once

#include <stdio.h>

#include "bench/forecast/simulation.h"

/* Divides the simulated step time among causes, and sets each cause's share (ms) in s->result: the
 * members from path_load_ms through path_sums_ms. Call simulation_run on `s` first. Other
 * arguments: see simulation_open. */
enum status critical_path_find(const struct simulation *s, const struct spec *spec, const char *run,
                               const char *calibration, struct error *e);
/* Prints each cause's share of the step time, in ms and per cent, as a table. Call
 * critical_path_find first. If several ranks communicate, also prints the rank that waits least. */
void critical_path_print(FILE *out, const struct simulation *s);
