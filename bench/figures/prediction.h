/* Predicts a step time: the base's step divided among the ranks, plus the time until the last rank has sent, received
 * and summed everything (comm/cost/sweep.h), with coefficients that comm_sweep fitted on this machine. The model assumes
 * no overlap. Contention for a node's memory is included only as far as it was present in the fit. */
#pragma once

#include <stdio.h>

#include "bench/collect/collect.h"
#include "bench/figures/quantity.h"
#include "comm/cost/sweep.h"

struct prediction {
    double *step_ms; /* [points] predicted step time; NAN: no prediction */
    double *
        calls_ms; /* [points] predicted time of the calls of a step alone, as measure.replay measures it */
    size_t n; /* number of points with a prediction */
    bool
        by_rate; /* some points are predicted by the rate and delay of the link between their hosts */
    char words[256]; /* coefficients and their origin, for captions; why there are none if n is 0 */
};

/* Reads the coefficients that option `link` names; with auto, only those measured on the same host. ERR_DATA with the
 * file if the named file is missing or has the wrong format. Call prediction_free in any case. */
enum status prediction_make(struct prediction *p, const struct summary *s, const char *run_dir,
                            struct error *e);
void prediction_free(struct prediction *p);

/* Predicts the time of a step's messages and sums until the last rank has finished (ms). width: bytes per number. It adds
 * the strategy's sum among replicas, sums over slices of dense layers, and messages between stages of a pipeline, cut by
 * FLOPs. The point must have a network and ranks that the strategy supports. Each host of the machine has `group`
 * consecutive ranks of the point. */
enum status prediction_comm_ms(double *ms, const struct point *point, size_t width,
                               const struct sweep_machine *machine, struct error *e);
/* Returns a machine with the point's ranks spread over its nodes. */
struct sweep_machine prediction_machine(const struct config *config,
                                        const struct link_model *memory,
                                        const struct link_model *network);

/* Writes the model of the quantity and its coefficients, for a caption. */
void prediction_write(FILE *out, const struct prediction *p, const struct quantity *quantity);

/* Returns the prediction as a value of `quantity`; NAN if it cannot be derived. */
double prediction_value(const struct prediction *p, const struct summary *s, size_t point,
                        const struct quantity *quantity);
