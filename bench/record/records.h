/* The records of a launch as they were written, rank by rank. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bench/record/fields.h"
#include "kernels/base/clock_offset.h"
#include "kernels/base/error.h"

/* A growing list of equal items. */
struct list {
    void *items;
    size_t n;
};

/* Images of one class in an evaluation. */
struct class_count {
    int64_t samples, correct;
};

/* The clock that a rank's times are of. */
struct record_clock {
    int of;    /* first of the ranks that share it; -1: how far it is from rank 0's is unknown */
    bool told; /* by the ranks; else ranks of one host share it */
    struct clock_line line; /* less rank 0's */
    double error_ns;
};

/* One rank's records. */
struct rank_record {
    char path[4096];
    int hello_line, end_line; /* 0: not read */
    struct record_hello hello;
    struct list steps, warmup; /* struct record_step: timed ones, and those that are not */
    struct list spans;         /* struct record_span */
    struct list epochs, evals; /* struct record_epoch, struct record_eval */
    struct list classes; /* struct class_count of the last evaluation; none where it told none */
    struct record_end end;
    struct record_clock clock;
};

/* Reads DIR/rank.*.jsonl, an array of `ranks`, as launch_read does. Freed with records_free. */
enum status records_read(struct rank_record **records, const char *dir, int ranks, struct error *e);
void records_free(struct rank_record *records, int ranks);

/* Step k of those that were timed, or of those that were not. */
const struct record_step *records_step(const struct rank_record *r, bool timed, size_t k);

/* Whether two ranks ran on one machine, as their kernels name its boot, or else by the names of their hosts. */
bool records_share_machine(const struct rank_record *a, const struct rank_record *b);

/* Sets the clocks of records that were read; records_read does so. */
void records_take_clocks(struct rank_record *records, int ranks);

/* By how much clock readings of two ranks may be off against each other: 0 where all share a clock, NAN
 * where they do not compare. */
double records_clock_error_ns(const struct rank_record *records, int ranks);

/* A time of the rank on rank 0's clock. A record that was damaged may tell any number: 0 of what cannot be. */
int64_t records_on_first_clock_ns(const struct rank_record *r, int64_t t_ns);

/* When the ranks arrived at a step, on rank 0's clock. */
struct arrivals {
    const struct rank_record *records; /* [ranks], borrowed */
    int ranks;
    bool timed; /* step k of those that were, or of the others */
    size_t k;
    bool known; /* false: some rank has no arrival, or clocks do not compare */
    int64_t first_ns, last_ns;
    double surely_ns; /* the last of them was not earlier than so much after last_ns; at most 0 */
};
struct arrivals records_arrivals(const struct rank_record *records, int ranks, bool timed,
                                 size_t k);

/* Whether the rank may have been the last to arrive: of ranks that share a clock only the last of
 * them, of different ones each within what clocks may be off. False where nothing is known. */
bool arrivals_may_be_last(const struct arrivals *a, int rank);

/* Nanoseconds that a rank waited at the step for the last to arrive; NAN where that is unknown. */
double arrivals_wait_ns(const struct arrivals *a, int rank);
