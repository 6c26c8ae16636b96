/* Programs that a campaign measures: their paths, and the versions and data on which their
 * results depend. */
#pragma once

#include <jansson.h>

#include "bench/collect/collect.h"
#include "bench/runner/foreign.h"
#include "bench/runner/tools.h"
#include "bench/spec/spec.h"

/* Paths of the programs that points use, "" for all others. A workload without a helper has ""
 * as helper. */
struct workloads {
    const struct spec *spec;   /* borrowed */
    const struct tools *tools; /* borrowed */
    char programs[WORKLOADS][PATH_BYTES], helpers[WORKLOADS][PATH_BYTES];
    json_t *foreign; /* paths of programs of `workload: command` (foreign_find) */
    /* Answers of the workloads, by workload_about: texts by name, for example libraries and
     * data. null if a workload did not answer. */
    json_t *identities;
};

#define WORKLOAD_PROGRAMS_MAX (2 * WORKLOADS + FOREIGN_PROGRAMS_MAX)

/* Finds the programs; ERR_UNAVAILABLE if one has not been built. Call workloads_free afterwards,
 * also after an error. */
enum status workloads_find(struct workloads *w, const struct spec *spec, const struct tools *tools,
                           struct error *e);
void workloads_free(struct workloads *w);

const char *workloads_program(const struct workloads *w, const struct point *point);

/* Returns the program and the options that its answer depends on, if they differ from their
 * defaults: "train_cnn data.set=digits". The options are those of the data, train.precision and
 * kernels.isa, or a peer's own. Points with equal texts share one answer. NULL if there is no
 * memory; free with free. */
char *workload_about(const struct point *point);

/* Asks a peer whether it can run here, or another program for the properties that all its
 * launches share (launch_common of bench/collect). Keeps the answer. ERR_UNAVAILABLE with the
 * reason if it cannot run. ERR_SPEC at the option if data cannot be read or a program is
 * missing. Any other failure is left to the launches, which report it. */
enum status workloads_ask(struct workloads *w, const struct point *point, struct error *e);

/* Returns ERR_DATA, with both values, if a launch reports other properties than the answer of
 * workloads_ask. */
enum status workloads_check(const struct workloads *w, const struct point *point,
                            const struct launch_result *result, struct error *e);

/* Lists every program and helper in use; returns their number. */
size_t workloads_list(const struct workloads *w, const char *programs[WORKLOAD_PROGRAMS_MAX]);
