/* What a step should take by the alpha-beta-gamma model (comm/cost/cost.h): the base's step shared
 * out among the ranks, and the messages and sums of the strategy with the coefficients that
 * comm_sweep fitted on this machine. Nothing hides behind computing, and that ranks of a node share
 * its memory shows only as far as it did when the coefficients were measured. */
#pragma once

#include <stdio.h>

#include "bench/collect/collect.h"
#include "bench/figures/quantity.h"

struct prediction {
    double *step_ms; /* one a point of the summary; NAN: nothing can be said */
    double *
        calls_ms; /* the same of the calls of a step alone, which the point's measure.replay times */
    size_t n;     /* points of which something is */
    bool by_rate; /* of some that communicate between hosts, by the rate and delay of their link */
    char words[256]; /* for a caption: coefficients and where they are from */
};

/* Reads what option `link` names; by itself (auto) only what was measured on the same host counts.
 * ERR_DATA with the file for a table that is no such table, or one that was named and is not there.
 * Freed with prediction_free in any case. */
enum status prediction_make(struct prediction *p, const struct summary *s, const char *run_dir,
                            struct error *e);
void prediction_free(struct prediction *p);

/* Messages and sums of a step of the slowest rank by the model alone, in ms, for the point's tensors of `width` bytes a
 * number: the strategy's among ranks of the same weights, sums over slices of dense layers, and what a stage of a
 * pipeline sends to those beside it, which is cut by the FLOPs of layers here. The point has a net and ranks that the
 * strategy takes. */
enum status prediction_comm_ms(double *ms, const struct point *point, size_t width,
                               const struct link_model *link, struct error *e);

/* For a caption: what the model of the quantity is, and its coefficients. */
void prediction_write(FILE *out, const struct prediction *p, const struct quantity *quantity);

/* A prediction as a value of `quantity`; NAN where that does not follow from the step. */
double prediction_value(const struct prediction *p, const struct summary *s, size_t point,
                        const struct quantity *quantity);
