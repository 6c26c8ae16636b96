/* The records of a launch as they were written, rank by rank; bench/record/record.h says what
 * each field means. Internal to bench/collect. */
#ifndef SCALEBENCH_BENCH_RECORD_RECORDS_H
#define SCALEBENCH_BENCH_RECORD_RECORDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "kernels/base/error.h"

enum verdict { VERDICT_UNKNOWN, VERDICT_FALSE, VERDICT_TRUE };

struct hello {
    int64_t schema, rank, ranks, params, flops_forward, flops_backward, batch, global_batch;
    double read_s, flops_done_forward, flops_done_backward;
    char savings[128], kernels_tuned[1024];
    char host[64], model[256], precision[8], dataset[32], data_source[32], strategy[32],
        sync_variant[32], sync_algorithm[32];
    char bound[1024], mpi[64], blas[64], isa[16], data_hash[24], libraries[24];
};

struct step {
    int64_t epoch, step, samples;
    enum verdict timed;
    int64_t begin_ns, end_ns, load_ns, forward_ns, backward_ns, pack_ns, comm_total_ns,
        comm_exposed_ns;
    int64_t optimizer_ns, arrive_ns, poll_ns, progress_ns, inject_ns;
    double loss_sum;
    char hash[24];
};

struct epoch {
    int64_t epoch;
    double seconds, train_loss, train_acc_pct, lr;
};

struct eval {
    int64_t epoch, samples;
    double seconds, test_loss, test_acc_pct;
};

struct end {
    int64_t steps, timed_steps, window_ns, window_cpu_ns, poll_ns;
    int64_t calls, bytes_payload, bytes_wire, messages_wire;
    double bytes_nic;     /* NAN: not counted */
    double diverged_step; /* NAN: it did not */
    char diverged[64];
    double replay_ns, fetch_s, infinite, user_s, sys_s, rss_mib, data_mib, libraries_mib;
    enum verdict weights_equal;
    char status[64], wire_source[64], check[8], first_difference[160];
};

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
    struct hello hello;
    struct list steps, warmup; /* struct step: timed ones, and those that are not */
    struct list epochs, evals;
    struct list classes; /* struct class_count of the last evaluation; none where it told none */
    struct end end;
};

/* Reads DIR/rank.*.jsonl, an array of `ranks`, as launch_read does. Freed with records_free. */
enum status records_read(struct rank_record **records, const char *dir, int ranks, struct error *e);
void records_free(struct rank_record *records, int ranks);

/* Nanoseconds that a rank waited for others in step k of those that were timed, or of those that
 * were not; NAN where that is unknown. */
double records_wait_ns(const struct rank_record *records, int ranks, bool timed, size_t k,
                       int rank);

#endif
