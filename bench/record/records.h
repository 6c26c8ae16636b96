/* Records of a launch in memory, one per rank. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bench/record/fields.h"
#include "kernels/base/clock_offset.h"
#include "kernels/base/error.h"

/* Growing array of equal items. */
struct list {
    void *items;
    size_t n;
};

/* Images of one class in an evaluation. */
struct class_count {
    int64_t samples, correct;
};

/* Clock in which a rank's times are given. */
struct record_clock {
    int of;    /* lowest rank with the same clock; -1: offset to rank 0's clock unknown */
    bool told; /* ranks reported it; otherwise ranks of one host are assumed to share a clock */
    struct clock_line line; /* offset to rank 0's clock over time */
    double error_ns;
};

/* Record of one rank. */
struct rank_record {
    char path[4096];
    int hello_line, end_line; /* line numbers; 0: not read */
    struct record_hello hello;
    struct list steps, warmup; /* struct record_step: timed and untimed steps */
    struct list spans;         /* struct record_span */
    struct list epochs, evals; /* struct record_epoch, struct record_eval */
    struct list classes; /* struct class_count of the last evaluation; empty if not reported */
    struct record_end end;
    struct record_clock clock;
};

/* Reads DIR/rank.*.jsonl into an array of `ranks` records. ERR_DATA with file and line if a
 * record is missing, incomplete or wrong, or if ranks disagree. Free with records_free, also
 * after an error. */
enum status records_read(struct rank_record **records, const char *dir, int ranks, struct error *e);
void records_free(struct rank_record *records, int ranks);

/* Returns step k of the timed or of the untimed steps. */
const struct record_step *records_step(const struct rank_record *r, bool timed, size_t k);

/* Returns whether two ranks ran on one machine, by the boot identity of the kernel or, if
 * unknown, by host name. */
bool records_share_machine(const struct rank_record *a, const struct rank_record *b);

/* Sets the clocks of all records. records_read calls it. */
void records_take_clocks(struct rank_record *records, int ranks);

/* Returns the largest error when times of two ranks are compared (ns). 0: all share a clock;
 * NAN: not comparable. */
double records_clock_error_ns(const struct rank_record *records, int ranks);

/* Converts a time of the rank to rank 0's clock. Returns 0 for values of damaged records that
 * would overflow. */
int64_t records_on_first_clock_ns(const struct rank_record *r, int64_t t_ns);

/* Arrivals of all ranks at a step's first wait, on rank 0's clock. */
struct arrivals {
    const struct rank_record *records; /* [ranks], borrowed */
    int ranks;
    bool timed; /* step k of the timed or of the untimed steps */
    size_t k;
    bool known; /* false: a rank has no arrival, or clocks are not comparable */
    int64_t first_ns, last_ns;
    double surely_ns; /* lower bound of the last arrival, relative to last_ns; at most 0 */
};
struct arrivals records_arrivals(const struct rank_record *records, int ranks, bool timed,
                                 size_t k);

/* Returns whether the rank may have arrived last, given the error of the clocks. Among ranks
 * with one clock, only the last one may. False if arrivals are unknown. */
bool arrivals_may_be_last(const struct arrivals *a, int rank);

/* Returns how long a rank waited for the last rank to arrive (ns), NAN if unknown. */
double arrivals_wait_ns(const struct arrivals *a, int rank);
