/* Writes points of a spec as traces for simulators (comm/cost/trace.h). Hosts have the links of forecast_machine, and the
 * network is full duplex. */
#pragma once

#include <stdio.h>

#include "bench/spec/spec.h"
#include "comm/cost/trace.h"

struct export_options {
    enum trace_kind kind;
    int leaf_hosts;       /* hosts per leaf switch; 0: one switch for all */
    int oversubscription; /* hosts of a leaf per link to a spine switch */
};

/* Writes the trace of point `number`, from 1 on, into `folder`, and prints a row of csv_export.def. `folder` is made.
 * ERR_ARGUMENT if the point's network is cut, if another program trains it, or if leaves do not divide its hosts. */
enum status export_point(FILE *out, const struct spec *spec, size_t number,
                         const struct export_options *options, const char *folder, struct error *e);
/* Prints the row of column names. */
void export_print_header(FILE *out);
