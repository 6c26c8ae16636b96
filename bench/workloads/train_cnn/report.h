/* What a run tells: records for the collector, lines for the person at the terminal. */
#pragma once

#include <jansson.h>
#include <sys/resource.h>

#include "bench/place/load.h"
#include "bench/record/record.h"
#include "bench/workloads/train_cnn/arguments.h"
#include "bench/workloads/train_cnn/traffic.h"
#include "kernels/base/clock_offset.h"

/* Totals over the timed steps of this rank. */
struct timed_interval {
    uint64_t steps, timed_steps;
    int64_t steps_ns, cpu_ns, poll_ns;
    int64_t begin_ns, end_ns; /* of the first and of the last of them */
    struct traffic traffic;
    bool counts_nic;
    struct nic_counts nic_begin, nic_end; /* of --nic before the first and after the last */
    struct rusage usage_begin, usage_end; /* of the process, likewise */
    struct load_share cores; /* of the process, from before MPI started to the record's end */
    uint32_t fetches;        /* of an epoch's samples, all before or between the steps */
    double fetch_s;          /* of all of them */
    uint64_t checkpoints;    /* written between steps, and the time that took */
    int64_t checkpoint_ns;
    int replays;       /* of a step's calls, after the steps */
    int64_t replay_ns; /* of one, median */
};

/* What is in this process's memory and not for computing; NAN where that is unknown. */
struct memory_use {
    double libraries_mib; /* all of it after MPI_Init, before anything was read or allocated */
    double data_mib;      /* of the data set, at the end */
    double peak_mib;      /* of the process, before what is kept of its steps became a record */
};

/* The clock that this rank reads, which it shares with others of its node, and at the first of these
 * how far it is from rank 0's, before the first step and after the last one. */
struct rank_clock {
    int of; /* that first rank */
    struct clock_line line;
};

/* Result of comparing the hashes of all ranks; valid at rank 0. */
struct comparison {
    bool made, equal;
    char first_difference[96]; /* "step 12, rank 1" */
};

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
json_t *report_end(const struct trainer *t, const struct timed_interval *timed,
                   const struct memory_use *memory, const struct comparison *comparison,
                   const struct divergence *divergence, const struct rank_clock *clock);

/* Steps as they were taken, which become lines of the record when there is time for it: making one
 * takes as long as a small net's optimizer. */
struct step_log {
    struct kept_step *steps;
    size_t n, capacity;
};
enum status step_log_open(struct step_log *log, size_t capacity, struct error *e);
void step_log_close(struct step_log *log);
/* At most `capacity` steps between two calls of step_log_write. */
void step_log_add(struct step_log *log, const struct step_record *step, bool timed);
/* Adds a line for each step to the record and forgets them. */
enum status step_log_write(struct step_log *log, struct recorder *recorder, struct error *e);
