/* Writes the program of a step as a trace for other simulators: SimGrid (Casanova et al. 2014) or
 * LogGOPSim (Hoefler, Schneider and Lumsdaine, "LogGOPSim", 2010).
 *
 * In SimGrid's trace, a rank computes before it communicates. In GOAL, LogGOPSim's format, a rank
 * also sends gradients during backward. A barrier in shared memory becomes messages of one byte. */
#pragma once

#include <stdio.h>

#include "comm/cost/sweep.h"

enum trace_kind {
#define TRACE(name, summary) TRACE_##name,
#include "comm/cost/traces.def"
    TRACES
};

struct trace_step {
    const struct program_list *program;
    const struct sweep_machine *machine; /* hosts and links of the ranks */
    int ranks;
    double compute_s;      /* compute time of each rank over all steps of the trace (s) */
    const double *ready_s; /* [tensors] compute time (s) from the start of the step until each
                              gradient is ready */
    double flop_per_s;     /* speed of a core, to convert times to FLOPs in SimGrid's trace */
};

/* Returns whether a trace of this format can overlap communication with compute. */
bool trace_overlaps(enum trace_kind kind);
/* Writes the trace of all ranks to `out`. */
void trace_write(FILE *out, enum trace_kind kind, const struct trace_step *step);
/* Writes SimGrid's platform file: hosts and a full-duplex network of one switch, or of leaf and
 * spine switches. With leaf switches, the number of hosts must be a multiple of leaf_hosts, and
 * leaf_hosts a multiple of leaf_spines. */
void trace_write_platform(FILE *out, const struct trace_step *step);
/* Writes the name that each rank's host has in SimGrid's platform file, one per line. */
void trace_write_hosts(FILE *out, const struct trace_step *step);
