/* Finds the run that a user names by its folder, or by its campaign's folder, name or spec.
 * Internal to bench/compare. */
#pragma once

#include "bench/runner/files.h"

/* Writes the path of the run folder that `name` means. Tries in turn: <name>, <name>/latest,
 * <out>/<name>, <out>/<name>/latest, results/reference/<name>, <home>/results/reference/<name>. If
 * `name` is a spec, <name> is its campaign's name; prints a note if the run has none of the spec's
 * points. Errors: ERR_ARGUMENT if no path is a run, or a sweep is found before a run. */
enum status operand_find(char path[PATH_BYTES], const char *name, const char *out, const char *home,
                         struct error *e);

/* If `name` is a spec, checks that the spec's run has all points of the spec (for --strict).
 * Errors: ERR_UNAVAILABLE if a point is missing. */
enum status operand_check_points(const char *name, const char *out, const char *home,
                                 struct error *e);

/* Looks for a sweep in the folders that operand_find tries, and sets `path` to the sweep's folder.
 * Returns the file name of the sweep's table; NULL: no sweep found. */
const char *operand_find_sweep(char path[PATH_BYTES], const char *name, const char *out,
                               const char *home);

/* Checks that no operand is a sweep. Errors: ERR_ARGUMENT with a message that states which operands
 * are sweeps. */
enum status operand_check_campaigns(const char *const *names, size_t n, const char *out,
                                    const char *home, struct error *e);

/* Refuses the path of a run's table, with the advice to give the run's folder. Errors:
 * ERR_ARGUMENT. */
enum status operand_check_no_table(const char *file, struct error *e);

/* Finds the last two runs of a campaign, the older one first. `name`: the campaign's spec, folder,
 * or name below `out`. Errors: ERR_ARGUMENT if there are fewer than two. */
enum status operand_find_last(char paths[2][PATH_BYTES], const char *name, const char *out,
                              struct error *e);
