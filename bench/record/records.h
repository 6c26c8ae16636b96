/* The records of a launch as they were written, rank by rank. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bench/record/fields.h"
#include "kernels/base/error.h"

/* A growing list of equal items. */
struct list {
    void *items;
    size_t n, room;
};

/* Images of one class in an evaluation. */
struct class_count {
    int64_t samples, correct;
};

/* One rank's records. */
struct rank_record {
    char path[4096];
    int hello_line, end_line; /* 0: not read */
    struct record_hello hello;
    struct list steps, warmup; /* struct record_step: timed ones, and those that are not */
    struct list epochs, evals; /* struct record_epoch, struct record_eval */
    struct list classes; /* struct class_count of the last evaluation; none where it told none */
    struct record_end end;
};

/* Reads DIR/rank.*.jsonl, an array of `ranks`, as launch_read does. Freed with records_free. */
enum status records_read(struct rank_record **records, const char *dir, int ranks, struct error *e);
void records_free(struct rank_record *records, int ranks);

/* Step k of those that were timed, or of those that were not. */
const struct record_step *records_step(const struct rank_record *r, bool timed, size_t k);

/* Whether clock readings of the ranks compare: all of them ran on one node. */
bool records_share_clock(const struct rank_record *records, int ranks);

/* The rank that arrived last at a step; -1 where some rank has no arrival or clocks do not
 * compare. */
int records_last_to_arrive(const struct rank_record *records, int ranks, bool timed, size_t k);

/* Nanoseconds that a rank waited at a step for the `last` to arrive; NAN where that is unknown. */
double records_wait_ns(const struct rank_record *records, bool timed, size_t k, int rank, int last);
