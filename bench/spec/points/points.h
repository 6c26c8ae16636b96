/* What the points of a spec are made with, in the order of expand.c: identities, then the points that stand
 * beside those of the matrix, and what all of them are called. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "bench/spec/spec.h"
#include "kernels/base/error.h"

/* The option says what is computed; the others (ranks, nodes, place.*, sync.*) where and how. */
bool option_is_problem(const struct spec_option *option);

/* Fills in the point's net and id from its values. */
void point_identify(struct point *point, const struct spec *spec);

/* Room for `n` points behind those that there are; it takes no memory before they are written. */
enum status points_grow(struct spec *spec, size_t n, struct error *e);

/* A point that was added for another one is none of the first one's case once `with`, of another case,
 * needs it too. */
void point_share(struct point *added, const struct point *with);

/* ---- Bases ---- */

/* Fills in base_index where no `baseline:` says it. */
enum status bases_choose(struct spec *spec, struct error *e);

/* Fills it in where one does; bases that the matrix lacks come before all other points. */
enum status bases_add(struct spec *spec, struct error *e);

/* ---- Points that communicate nothing, and peers ---- */

/* Adds those that points whose calls are replayed are compared with. */
enum status silent_add(struct spec *spec, struct error *e);

/* Fills in silent_index and peer_index. */
enum status partners_find(struct spec *spec, struct error *e);

/* ---- Calibrations and labels ---- */

/* Fills in calibration_index; calibrations that the matrix lacks come behind all other points. */
enum status calibrations_add(struct spec *spec, struct error *e);

/* Writes the labels, of points that are complete. */
enum status labels_write(struct spec *spec, struct error *e);

/* ---- Options that belong to others ---- */

/* Notes which values of a point's options, as the spec writes them, the point reads: sync.cap_mib is read by strategy
 * bucketed alone. Values that spec_write wrote are not noted. of: the matrix or case of the point, NULL of a base. */
enum status owned_note(struct spec *spec, const struct config *config, const struct matrix *of,
                       struct error *e);

/* Takes values that no point reads out of the spec, where they come from a file that it extends, or where the words
 * of a command line chose what does not read them. *some: points are to be made anew. */
enum status owned_leave_out(struct spec *spec, bool *some, struct error *e);

/* Whether words of a command line choose an owner; of ranks, nodes and ranks_per_node each follows from the others. */
bool owned_is_open(const struct spec *spec, enum option_id owner);

/* Whether a value is written in a file that the spec extends. */
bool owned_is_of_base(const struct spec *spec, struct mark mark);

/* ERR_SPEC for any other value that no point reads. */
enum status owned_check(const struct spec *spec, struct error *e);

/* ---- Axes ---- */

/* ERR_SPEC for an axis of several values that no point heeds, as strategies of one rank. */
enum status idle_check(const struct spec *spec, struct error *e);

/* ERR_SPEC for ZeRO 3 that shares no parameters, and for two values of sync.node_ranks that make the same nodes. */
enum status unused_check(const struct spec *spec, struct error *e);
