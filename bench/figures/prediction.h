/* Predicts the time of a step: the base's step shared out among the ranks, and the time until the last rank has sent,
 * received and summed everything (comm/cost/sweep.h), with the coefficients that comm_sweep fitted on this machine. No
 * message hides behind computing. Contention for the memory of a node is in the coefficients alone. */
#pragma once

#include <stdio.h>

#include "bench/collect/collect.h"
#include "bench/figures/quantity.h"
#include "comm/cost/sweep.h"

struct prediction {
    double *step_ms; /* [points] predicted step time; NAN: no prediction */
    double *
        /* [points] predicted time of a step's communication alone, as measure.replay measures
         * it; NAN: no prediction */
        calls_ms;
    size_t n; /* number of points with a prediction */
    /* some points communicate between hosts and are predicted by the rate and delay of their
     * link */
    bool by_rate;
    char words[256]; /* coefficients and their origin, for captions */
};

/* Reads the coefficients that option `link` names; with auto, only those measured on the same
 * host. ERR_DATA with the file if the named file is missing or has the wrong format. Call
 * prediction_free in any case. */
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

/* Writes the model of the quantity and its coefficients, for a caption. */
void prediction_write(FILE *out, const struct prediction *p, const struct quantity *quantity);

/* Returns the prediction as a value of `quantity`; NAN if it cannot be derived. */
double prediction_value(const struct prediction *p, const struct summary *s, size_t point,
                        const struct quantity *quantity);
