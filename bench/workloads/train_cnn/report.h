/* What a run tells: records for the collector, lines for the person at the terminal. */
#pragma once

#include <jansson.h>

#include "bench/record/record.h"
#include "bench/workloads/train_cnn/arguments.h"
#include "bench/workloads/train_cnn/traffic.h"

/* What launches that are compared have in common: number type, instruction set, libraries, data.
 * The runner asks for it before a campaign, and each record has it. NULL, with `e`, where data
 * cannot be read. */
json_t *report_identity(const struct data_set *data, enum isa isa, const struct arguments *a,
                        struct error *e);

json_t *report_hello(const struct trainer *t, const struct arguments *a, double read_s,
                     const char *bound, struct error *e);
json_t *report_epoch(const struct trainer *t, uint32_t epoch, uint32_t steps, double seconds,
                     const struct score *score);
json_t *report_eval(uint32_t epoch, double seconds, const struct score *score,
                    const struct class_counts *classes);
/* Fills in what the trainer and the process know of the end of a run, whose steps are counted in *end already. */
json_t *report_end(struct record_end *end, const struct trainer *t, const struct traffic *traffic);

/* Steps as they were taken, which become lines of the record when there is time for it: making one
 * takes as long as a small net's optimizer. */
struct step_log {
    struct record_step *steps; /* [capacity], by mem_new_aligned */
    size_t n, capacity;
};
/* Adds a line for each step to the record and forgets them. */
enum status step_log_write(struct step_log *log, struct recorder *recorder, struct error *e);
