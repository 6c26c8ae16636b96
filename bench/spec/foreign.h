/* A program of somebody else's making: its options, its command line and the time that points are compared by. */
#pragma once

#include "bench/spec/spec.h"
#include "bench/spec/yaml_reader.h"
#include "kernels/base/error.h"

/* Bytes of the name of an option. */
enum { FOREIGN_NAME = 32 };

/* ---- Own options ---- */

/* "workload.options": what they stand below. */
extern const char own_options_group[];
bool own_option_is_below(const char *key);

/* The row of "workload.options.size", made where the spec has none of this name yet. ERR_SPEC at the key
 * of `entry` for what cannot name an option, and for one too many. */
enum status own_option_name(const struct spec_option **option, struct own_options *own,
                            const char *key, const struct node *entry, struct error *e);

/* Brings them into the order of their names wherever the spec has values of them, so that neither points
 * nor labels hang on who was named first. */
void own_options_sort(struct spec *spec);

/* An option that no command takes would change nothing. ERR_SPEC at its place. */
enum status own_options_check(const struct spec *spec, struct error *e);

/* ---- Command line and time ---- */

/* What the braces of a command line stand for besides what the point says. */
struct foreign_launch {
    unsigned long long seed;
    const char *record; /* folder */
};

/* The i-th word of workload.command with its braces replaced, freed with free. ERR_SPEC at its place
 * for braces that mean nothing, or an own option that the point is not given. */
enum status foreign_word(char **word, const struct config *config, size_t i,
                         const struct foreign_launch *launch, struct error *e);

/* The index of the metric that workload.time names; that of no metric (their number): the wall time
 * counts. *ms is what one of it is in milliseconds. ERR_SPEC at its place. */
enum status foreign_time(const struct config *config, size_t *metric, double *ms, struct error *e);

/* Whether the command and the time of a point go with its metrics. ERR_SPEC at their place. */
enum status foreign_check(const struct config *config, struct error *e);
