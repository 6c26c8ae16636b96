/* A program of somebody else's making: what its options, its command line and its metrics say. */
#pragma once

#include <regex.h>

#include "bench/spec/spec.h"
#include "bench/spec/yaml_reader.h"
#include "kernels/base/error.h"

/* Bytes of the name of an option or of a metric. */
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

/* ---- Command line and metrics ---- */

/* What the braces of a command line stand for besides what the point says. */
struct foreign_launch {
    unsigned long long seed;
    const char *record; /* folder */
};

/* The i-th word of workload.command with its braces replaced, freed with free. ERR_SPEC at its place
 * for braces that mean nothing, or an own option that the point is not given. */
enum status foreign_word(char **word, const struct config *config, size_t i,
                         const struct foreign_launch *launch, struct error *e);

/* A number in the output of a program. */
struct foreign_metric {
    char name[FOREIGN_NAME];
    const char *pattern; /* borrowed */
    regex_t regex;
};

/* Seconds of a processor that patterns get before the first byte is matched: to compile one takes a
 * millisecond. */
enum { FOREIGN_SECONDS = 1 };

/* The i-th of workload.metrics, freed with regfree of its regex. ERR_SPEC at its place. Of patterns that
 * nobody has checked only in a process that may go on for ever or die: bench/spec/bounded.h. */
enum status foreign_metric_open(struct foreign_metric *metric, const struct config *config,
                                size_t i, struct error *e);

/* The name alone, of metrics that were checked. */
void foreign_metric_name(char name[FOREIGN_NAME], const struct config *config, size_t i);

/* The index of the metric that workload.time names; that of no metric (their number): the wall time
 * counts. *ms is what one of it is in milliseconds. ERR_SPEC at its place. */
enum status foreign_time(const struct config *config, size_t *metric, double *ms, struct error *e);

/* Whether the patterns of a point compile within limits, each with one group. ERR_SPEC at their place. */
enum status foreign_check_metrics(const struct config *config, struct error *e);

/* Whether the command and the time of a point go with its metrics. ERR_SPEC at their place. */
enum status foreign_check(const struct config *config, struct error *e);
