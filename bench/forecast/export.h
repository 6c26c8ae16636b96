/* Writes points of a spec as traces for simulators (comm/cost/trace.h). Hosts have the links of forecast_machine, and the
 * network is full duplex. */
#pragma once

#include <stdio.h>

#include "bench/spec/spec.h"
#include "comm/cost/trace.h"

/* Writes the trace of point `number`, from 1 on, into `folder`, and prints a row of csv_export.def. `folder` is made.
 * ERR_ARGUMENT if the point's network is cut, or if another program trains it. */
enum status export_point(FILE *out, const struct spec *spec, size_t number, enum trace_kind kind,
                         const char *folder, struct error *e);
/* Prints the row of column names. */
void export_print_header(FILE *out);
