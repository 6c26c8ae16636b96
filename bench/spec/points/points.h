/* Functions that make the points of a spec: identities, additional points, labels, and checks for
 * values without effect. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "bench/spec/spec.h"
#include "kernels/base/error.h"

/* Returns whether the option is part of the problem, unlike options such as ranks, nodes, place.*
 * and sync.*, which determine where and how the problem is computed. */
bool option_is_problem(const struct spec_option *option);

/* Sets the point's net and id from its values. */
void point_identify(struct point *point, const struct spec *spec);

/* Makes room for `n` more points. The new points are not initialised, and unused room takes no
 * physical memory. */
enum status points_grow(struct spec *spec, size_t n, struct error *e);

/* Clears the case name of point `added` if point `with` has another one and the spec does not
 * request `added`. Call once for each point that needs `added`, as `with`. */
void point_share(struct point *added, const struct point *with);

/* ---- Bases ---- */

/* Sets base_index of all points as if the spec had no `baseline:`; bases_add replaces base_index
 * for points with a `baseline:`. */
enum status bases_choose(struct spec *spec, struct error *e);

/* Sets base_index for points with a `baseline:`. Baseline points that the matrix lacks are added
 * before all other points. */
enum status bases_add(struct spec *spec, struct error *e);

/* Rejects scaling = strong, weak or epoch if the number of ranks varies, but never between a point
 * and its baseline. Accepts recorded specs, and specs whose ranks or nodes come from --set, `quick`
 * or `auto`. */
enum status bases_check(const struct spec *spec, struct error *e);

/* ---- Points without communication, and peers ---- */

/* Adds the points without communication that the spec lacks. A point that communicates and has
 * measure.replay is compared with the point that is equal except for communication. Points of a
 * user's program are not compared. */
enum status silent_add(struct spec *spec, struct error *e);

/* Sets silent_index and peers of all points (struct point). */
enum status partners_find(struct spec *spec, struct error *e);

/* ---- Calibrations and labels ---- */

/* Sets calibration_index of all points. Adds missing calibration points after all other points. */
enum status calibrations_add(struct spec *spec, struct error *e);

/* Writes the labels of all points. Call it after all points are added. */
enum status labels_write(struct spec *spec, struct error *e);

/* ---- Options that only some points read ---- */

/* Records which values of the spec a point reads. `config`: options of the point. `of`: matrix or
 * case of the point; NULL for a baseline point. In a recorded spec, considers only values of
 * --set. */
enum status owned_note(struct spec *spec, const struct config *config, const struct matrix *of,
                       struct error *e);

/* Removes values that no point reads and that owned_check accepts, such as values in files that the
 * spec extends. Removes an axis only if this holds for all of its values except the default. Keeps
 * values without which the points would have other identities. *some: whether a value was removed;
 * the points must then be expanded again. */
enum status owned_leave_out(struct spec *spec, bool *some, struct error *e);

/* Returns whether --set, option `quick` or the machine determines option `owner`
 * (spec_option_is_open). If `owner` is ranks or nodes, returns true if this holds for any of ranks,
 * nodes and ranks_per_node. */
bool owned_is_open(const struct spec *spec, enum option_id owner);

/* Returns whether a position is in a file that the spec extends. */
bool owned_is_of_base(const struct spec *spec, struct mark mark);

/* Returns ERR_SPEC, with the position, if the spec contains a value that no point reads. Accepts
 * such a value in a file that the spec extends. Also accepts it if --set, option `quick` or the
 * machine determines which points read it. A value that itself comes from --set or `quick` is not
 * accepted. */
enum status owned_check(const struct spec *spec, struct error *e);

/* ---- Axes ---- */

/* Returns ERR_SPEC, with the position, if an axis or a value that the user chose has no effect at
 * any point, such as several strategies for one rank. Checks only the options listed in
 * rules/idle.c. For some of these options, checks axes but not single values. Checks nothing if
 * spec->is_recorded. */
enum status idle_check(const struct spec *spec, struct error *e);

/* Returns ERR_SPEC, with the position, if ZeRO stage 3 shards no parameters at any point that uses
 * it. Also rejects an axis of sync.node_ranks or data.samples if two of its values have the same
 * effect at every point. Some of these errors are not reported if --set, `quick`, the machine or an
 * extended file causes them. Checks nothing if spec->is_recorded. */
enum status unused_check(const struct spec *spec, struct error *e);

/* Rejects an axis of sync.deadline, different values of `seed` at points with accuracy runs, and
 * local SGD that does not average weights in the timed steps. If launches record neither losses nor
 * accuracies, also rejects axes of options that do not affect step time, and cases that differ only
 * in such options. Returns ERR_SPEC with the position. Checks nothing if spec->is_recorded. */
enum status untimed_check(const struct spec *spec, struct error *e);

/* ---- Injected sleeps ---- */

/* Returns whether inject.phase occurs in each step. Phases such as the start of a run do not. */
bool reader_is_each_step(const struct config *config);
/* Returns the number of steps with an injected sleep in the longest launch or accuracy run. The
 * number is below 1 if inject.phase occurs in none of the steps of inject.steps. If the number is
 * unknown, returns 1. */
double reader_count_sleeps(const struct config *config);
