/* The programs that a campaign measures: where they are, and what peers say they stand on. */
#pragma once

#include <jansson.h>

#include "bench/collect/collect.h"
#include "bench/runner/foreign.h"
#include "bench/runner/tools.h"
#include "bench/spec/spec.h"

/* Paths of those that points use; the others are "", and so is the helper of one that needs
 * none. */
struct workloads {
    const struct spec *spec;   /* borrowed */
    const struct tools *tools; /* borrowed */
    char programs[WORKLOADS][PATH_BYTES], helpers[WORKLOADS][PATH_BYTES];
    json_t *foreign; /* as foreign_find says */
    /* By what workload_about says, what a program of ours says that its launches on these data, of this precision, have
     * in common, or a peer of what it stands on: texts by name; null where it did not tell. */
    json_t *identities;
};

#define WORKLOAD_PROGRAMS_MAX (2 * WORKLOADS + FOREIGN_PROGRAMS_MAX)

/* ERR_UNAVAILABLE when a program of ours has not been built. Ended with workloads_free in any case. */
enum status workloads_find(struct workloads *w, const struct spec *spec, const struct tools *tools,
                           struct error *e);
void workloads_free(struct workloads *w);

const char *workloads_program(const struct workloads *w, const struct point *point);

/* "train_cnn data.set=digits": the program and the options that what it says may depend on, those of
 * the data, train.precision and kernels.isa, or of a peer its own, where they are not at their presets. Points with one such text
 * stand on the same. NULL: no memory; freed by the caller. */
char *workload_about(const struct point *point);

/* Asks the point's workload whether it can run here, where it is one that must be asked, else what
 * its launches will have in common (bench/collect's launch_common); keeps its answer.
 * ERR_UNAVAILABLE with the reason when it cannot, ERR_SPEC at the option for data that do not read or a program that is
 * not there. One that does not tell for another reason says why in its launches. */
enum status workloads_ask(struct workloads *w, const struct point *point, struct error *e);

/* ERR_DATA, saying what it was and is, when a launch did not run on what was said then. */
enum status workloads_check(const struct workloads *w, const struct point *point,
                            const struct launch_result *result, struct error *e);

/* Lists every program and helper that is used; returns how many. */
size_t workloads_list(const struct workloads *w, const char *programs[WORKLOAD_PROGRAMS_MAX]);
