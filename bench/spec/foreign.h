/* Foreign programs (workload.command): options, command line, and the metric used as their time. */
#pragma once

#include "bench/spec/spec.h"
#include "bench/spec/yaml/yaml_reader.h"
#include "kernels/base/error.h"

/* Largest size of an option's name, in bytes, with the terminating NUL. */
enum { FOREIGN_NAME = 32 };

/* ---- Options of the program ---- */

/* Prefix of options that a spec defines for workload.command: "workload.options". */
extern const char own_options_group[];
bool own_option_is_below(const char *key);

/* Sets *option to the row of `own` for a key such as "workload.options.size"; adds a missing row.
 * ERR_SPEC at the key of `entry` if the name is invalid or there are too many options. */
enum status own_option_name(const struct spec_option **option, struct own_options *own,
                            const char *key, const struct node *entry, struct error *e);

/* Sorts the rows of workload.options by name, together with their values in the spec, so that
 * points and labels do not depend on the order in the file. */
void own_options_sort(struct spec *spec);

/* Rejects an option of workload.options if no workload.command contains its name in braces. Unless
 * the spec is a recorded one, also rejects: commands that begin with a launcher; metrics that match
 * no number or lack blanks around =; a seed, if every point runs a workload.command without {seed}.
 * ERR_SPEC with the position. */
enum status own_options_check(const struct spec *spec, struct error *e);

/* ---- Command line and time ---- */

/* Values of {seed} and {record} for one launch. */
struct foreign_launch {
    unsigned long long seed;
    const char *record; /* folder of the launch's records */
};

/* Returns whether workload.command contains {record}, the folder in which its ranks write
 * records. */
bool foreign_writes_records(const struct config *config);

/* Sets *word to word `i` of workload.command, with names in braces replaced by their values; free
 * with free(). ERR_SPEC at workload.command for an unknown name or an option without a value. */
enum status foreign_word(char **word, const struct config *config, size_t i,
                         const struct foreign_launch *launch, struct error *e);

/* Finds the metric that workload.time names. *metric: index of the metric; for the wall time, the
 * number of metrics. *ms: unit of the found time, in milliseconds. ERR_SPEC with the position if
 * the metric is unknown or not a time. */
enum status foreign_time(const struct config *config, size_t *metric, double *ms, struct error *e);

/* Checks workload.command and workload.time of a point. ERR_SPEC with the position. */
enum status foreign_check(const struct config *config, struct error *e);

/* Returns whether a point of the spec has a metric of this name (workload.metrics). */
bool foreign_has_metric(const struct spec *spec, const char *name);
