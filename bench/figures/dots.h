/* The individual launches behind the values of a figure, as dots_<figure>.csv: what its script draws
 * as faint dots behind each median. A row a launch that counts, by the order of the series file:
 *
 *   curve, name, point, label, ranks   as in series_<figure>.csv; curve is empty where nothing is drawn
 *   block, seed                        of the launch, in figures of points
 *   x, y                               in figures over anything: as in the series file; which column of it
 *   nth, n                             which of the point's n launches it is, from 1
 *   value                              in the unit of the figure; of a speed-up and an efficiency the
 *                                      ratio to the base's launch in the same block
 *
 * Internal to bench/figures. */
#pragma once

#include "bench/figures/figure_data.h"

/* Whether the figure's quantity has one value a launch, and its shape a place for each. */
bool dots_exist(const struct figure_data *d);

/* Writes the file. A run without raw.csv has names only. */
enum status dots_write(FILE *out, const struct figure_data *d, struct error *e);
