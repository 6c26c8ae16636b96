/* The programs that a campaign measures: where they are, and what peers say they stand on. */
#ifndef SCALEBENCH_RUNNER_WORKLOADS_H
#define SCALEBENCH_RUNNER_WORKLOADS_H

#include "bench/runner/tools.h"
#include "bench/spec/spec.h"

enum workload_id {
#define WORKLOAD(name, helper, summary) WORKLOAD_##name,
#include "bench/spec/workloads.def"
#undef WORKLOAD
    WORKLOADS
};

/* Paths of those that points use; the others are "", and so is the helper of one that needs none.
 */
struct workloads {
    char programs[WORKLOADS][PATH_BYTES], helpers[WORKLOADS][PATH_BYTES];
    char *answers; /* a line an asked point that can run */
};

/* ERR_UNAVAILABLE when a program has not been built. Ended with workloads_free in any case. */
enum status workloads_find(struct workloads *w, const struct spec *spec, const struct tools *tools,
                           struct error *e);
void workloads_free(struct workloads *w);

const char *workloads_program(const struct workloads *w, const struct point *point);

/* Asks the point's workload whether it can run here, where it is one that must be asked; keeps its
 * answer. ERR_UNAVAILABLE with the reason when it cannot. */
enum status workloads_ask(struct workloads *w, const struct point *point, struct error *e);

/* Lists every program and helper that is used; returns how many. */
size_t workloads_list(const struct workloads *w, const char *programs[2 * WORKLOADS]);

#endif
