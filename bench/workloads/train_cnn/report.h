/* Makes the lines of a run's record: properties, epochs, evaluations, steps and the end. */
#pragma once

#include <jansson.h>

#include "bench/record/record.h"
#include "bench/workloads/train_cnn/arguments.h"
#include "bench/workloads/train_cnn/traffic.h"

/* Returns the properties that must be equal for launches to be comparable: number type, instruction
 * set, libraries, data. NULL, with `e` set, if the data cannot be read. */
json_t *report_identity(const struct data_set *data, enum isa isa, const struct arguments *a,
                        struct error *e);

json_t *report_hello(const struct trainer *t, const struct arguments *a, double read_s,
                     const char *bound, struct error *e);
/* Returns the line about an epoch for this rank's record. p->train is the score of the epoch over
 * all ranks. */
json_t *report_epoch(const struct trainer *t, const struct progress *p,
                     const struct noise_estimate *noise);
json_t *report_eval(uint32_t epoch, double seconds, const struct score *score,
                    const struct class_counts *classes);
/* Fills in *end from the trainer and the process, except for members that the caller has set, such
 * as counts and times of steps. Returns *end as JSON. */
json_t *report_end(struct record_end *end, const struct trainer *t, const struct traffic *traffic);

/* Steps that are not yet written to the record. Making lines of JSON is slow, so it is done outside
 * of timed steps. */
struct step_log {
    struct record_step *steps; /* [capacity] one per step; allocated by mem_new_aligned */
    size_t n, capacity;
};
/* Writes one line per step to the record and empties the log. */
enum status step_log_write(struct step_log *log, struct recorder *recorder, struct error *e);
