/* Predicts the time of a step: the base's step shared out among the ranks, and the time until the last rank has sent,
 * received and summed everything (comm/cost/sweep.h), with the coefficients that comm_sweep fitted on this machine. No
 * message hides behind computing. Contention for the memory of a node is in the coefficients alone. */
#pragma once

#include <stdio.h>

#include "bench/collect/collect.h"
#include "bench/figures/quantity.h"
#include "comm/cost/sweep.h"

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

/* Predicts the milliseconds of the messages and sums of a step, until the last rank has finished, for the point's tensors
 * of `width` bytes per number: the strategy's among replicas, sums over slices of dense layers, and messages between the
 * stages of a pipeline, which is cut by the FLOPs of layers here. The point has a net, and as many ranks as the strategy
 * needs. The hosts of the machine have `group` consecutive ranks of the point each. */
enum status prediction_comm_ms(double *ms, const struct point *point, size_t width,
                               const struct sweep_machine *machine, struct error *e);
/* A machine on which the point's ranks are spread over its nodes. */
struct sweep_machine prediction_machine(const struct config *config,
                                        const struct link_model *memory,
                                        const struct link_model *network);

/* For a caption: what the model of the quantity is, and its coefficients. */
void prediction_write(FILE *out, const struct prediction *p, const struct quantity *quantity);

/* A prediction as a value of `quantity`; NAN where that does not follow from the step. */
double prediction_value(const struct prediction *p, const struct summary *s, size_t point,
                        const struct quantity *quantity);
