/* Reads the records of all ranks of a launch into memory, and converts their times to one clock. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bench/record/fields.h"
#include "kernels/base/clock_offset.h"
#include "kernels/base/error.h"

/* Growing array of items of one type. */
struct list {
    void *items;
    size_t n;
};

/* Image counts of one class: `samples` were evaluated, and `correct` of them classified
 * correctly. */
struct class_count {
    int64_t samples, correct;
};

/* Clock from which a rank's times were read. */
struct record_clock {
    int of; /* lowest rank with the same clock; -1: offset to rank 0's clock unknown */
    /* whether the offset to rank 0's clock was measured. Always false for a rank that reported no
     * clock. Such a rank shares rank 0's clock if it ran on rank 0's host (`of` is 0) */
    bool told;
    /* offset of the clock to rank 0's clock, as a linear function of time */
    struct clock_line line;
    double error_ns;
};

/* Record of one rank. */
struct rank_record {
    char path[4096];
    int hello_line, end_line; /* line numbers of hello and end in the file; 0: not read yet */
    struct record_hello hello;
    struct list steps, warmup; /* items: struct record_step of timed and untimed steps */
    struct list spans;         /* items: struct record_span */
    struct list epochs, evals; /* items: struct record_epoch, struct record_eval */
    /* items: struct class_count, of the last evaluation; empty if not reported */
    struct list classes;
    struct record_end end;
    struct record_clock clock;
};

/* Reads DIR/rank.*.jsonl into an array of `ranks` records. ERR_DATA with file and line if a record
 * is missing, incomplete or wrong, or if ranks disagree. Free with records_free, even after an
 * error. */
enum status records_read(struct rank_record **records, const char *dir, int ranks, struct error *e);
void records_free(struct rank_record *records, int ranks);

/* Returns step `k` (from 0) of the timed steps, or of the untimed steps if `timed` is false. */
const struct record_step *records_step(const struct rank_record *r, bool timed, size_t k);

/* Returns whether two ranks ran on one machine: compares the boot ids of their kernels, or the host
 * names if boot ids are unknown. */
bool records_share_machine(const struct rank_record *a, const struct rank_record *b);

/* Sets `clock` of every record, which relates the record's time stamps to rank 0's clock.
 * records_read calls this. */
void records_take_clocks(struct rank_record *records, int ranks);

/* Returns the largest possible error (ns) in the difference between time stamps of two ranks. 0:
 * all ranks share a clock; NAN: times are not comparable. */
double records_clock_error_ns(const struct rank_record *records, int ranks);

/* Converts a time of rank `r` to rank 0's clock. Returns 0 if the conversion would overflow, as in
 * damaged records. */
int64_t records_on_first_clock_ns(const struct rank_record *r, int64_t t_ns);

/* Times at which the ranks arrived at a step's wait (arrive_ns), on rank 0's clock. */
struct arrivals {
    const struct rank_record *records; /* [ranks] records of the launch, borrowed */
    int ranks;
    bool timed; /* true: the k-th timed step; false: the k-th untimed step */
    size_t k;
    bool known; /* whether the times below are valid; false if a rank did not wait, or clocks are
                   not comparable */
    int64_t first_ns, last_ns;
    /* earliest possible time of the last arrival, given the clock errors; relative to last_ns, so
     * at most 0 */
    double surely_ns;
};
struct arrivals records_arrivals(const struct rank_record *records, int ranks, bool timed,
                                 size_t k);

/* Returns whether the rank may have arrived last, given the errors of the clocks. False if another
 * rank with the same clock arrived later, or if arrivals are unknown. */
bool arrivals_may_be_last(const struct arrivals *a, int rank);

/* Returns the time that `rank` waited for the last arrival (ns), at most the rank's exposed
 * communication time. If arrivals are unknown: NAN, or 0 for a rank without exposed
 * communication. */
double arrivals_wait_ns(const struct arrivals *a, int rank);
