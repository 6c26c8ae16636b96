/* Writes points of a spec as traces for simulators (comm/cost/trace.h). The hosts have the links
 * that forecast_machine returns. All links are full duplex. */
#pragma once

#include <stdio.h>

#include "bench/spec/spec.h"
#include "comm/cost/trace.h"

struct export_options {
    enum trace_kind kind;
    int leaf_hosts;       /* hosts per leaf switch; 0: option site.leaf_hosts of the point */
    int oversubscription; /* hosts per uplink of a leaf switch */
};

/* Creates `folder`, writes the trace of point `number` (from 1) into it, and prints a row of
 * csv_export.def to `out`. ERR_ARGUMENT if the point does not run train_cnn or splits its network,
 * or if leaf_hosts does not divide the number of hosts. */
enum status export_point(FILE *out, const struct spec *spec, size_t number,
                         const struct export_options *options, const char *folder, struct error *e);
/* Prints the row of column names. */
void export_print_header(FILE *out);
