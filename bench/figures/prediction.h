/* Predicts a step time as compute plus communication, without overlap. Compute is the base point's
 * step time, scaled to this point's images per core. Communication is the time until the last rank
 * has sent, received and summed everything (comm/cost/sweep.h). The coefficients of this time are
 * from the link.csv that comm_sweep writes (option `link`). Contention for a node's memory is
 * included only as far as it slowed comm_sweep's messages. */
#pragma once

#include <stdio.h>

#include "bench/collect/collect.h"
#include "bench/figures/quantity.h"
#include "comm/cost/sweep.h"

struct prediction {
    double *step_ms; /* [points] predicted step time (ms); NAN: no prediction */
    /* [points] predicted time (ms) of a step's communication calls without compute, as
     * measure.replay measures it; NAN: no prediction */
    double *calls_ms;
    size_t n;     /* number of points with a prediction */
    bool by_rate; /* whether any prediction uses the spec's link rate and delay between hosts */
    /* text for captions: the coefficients and their file or, if n is 0, the reason why there is no
     * prediction */
    char words[256];
};

/* Predicts step_ms and calls_ms of each point to which the model applies, with the coefficients in
 * the file that option `link` names. With link: auto, uses only coefficients measured on the run's
 * host. ERR_DATA, with the path in *e, if the file is malformed, or if it is missing and link is
 * not auto. Call prediction_free in any case. */
enum status prediction_make(struct prediction *p, const struct summary *s, const char *run_dir,
                            struct error *e);
void prediction_free(struct prediction *p);

/* Reads the link coefficients that option `link` selects, and writes their source to `words`. If
 * the option is `none`, or is `auto` and no file was measured on `host`, leaves *link unchanged and
 * writes the reason to `words`. Errors as prediction_make. */
enum status prediction_link(struct link_model *link, char words[256], const struct spec *spec,
                            const char *run_dir, const char *host, struct error *e);
/* Predicts the communication time (ms) of a step, until the last rank has finished: sums of
 * gradients over replicas, sums over slices of dense layers, and messages between pipeline stages
 * of about equal FLOPs. `width`: bytes per number. The point must have a network, and a number of
 * ranks that the strategy supports. machine->hosts.group: number of consecutive ranks on each
 * host. */
enum status prediction_comm_ms(double *ms, const struct point *point, size_t width,
                               const struct sweep_machine *machine, struct error *e);
/* Lists the communication operations of the point's strategy. The network must not be split over
 * ranks. *steps: training steps that the list covers. Call program_list_free in any case. */
enum status prediction_program(uint64_t *steps, struct program_list *list,
                               const struct point *point, size_t width,
                               const struct sweep_machine *machine, struct error *e);
/* Returns a machine with the point's ranks on the point's nodes, and the given coefficients. */
struct sweep_machine prediction_machine(const struct config *config,
                                        const struct link_model *memory,
                                        const struct link_model *network);
/* Copies the coefficients that option site.link names, if any, to the machine. alpha, beta and
 * paces (spread of message times) go to machine->memory if one host has all ranks, otherwise to
 * machine->network. A known gamma always goes to machine->memory. */
void prediction_take_link(struct sweep_machine *machine, const struct config *config);

/* Writes the caption's sentence on how `quantity` was predicted and from which coefficients. */
void prediction_write(FILE *out, const struct prediction *p, const struct quantity *quantity);

/* Returns a point's predicted value of `quantity`; NAN if it cannot be derived from the predicted
 * times. */
double prediction_value(const struct prediction *p, const struct summary *s, size_t point,
                        const struct quantity *quantity);
