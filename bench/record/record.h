/* What a workload tells: DIR/rank.N.jsonl, one JSON object a line, units in the names. Lines are
 * made between timed steps, some thousand steps at a time, and after them. A launch counts only
 * when every rank has written `end`. Losses that are no numbers or infinite, which JSON has not,
 * are the texts "nan", "inf" and "-inf".
 *
 *   {"type":"hello","schema":1,"rank":0,"ranks":2,"host":"n1","pid":7,"workload":"train_cnn",
 *    "precision":"f32","model":"lenet_21k","params":21840,"flops_forward":961000,
 *    "flops_backward":1634000,                       an image, of the net as written
 *    "flops_done_forward":480000,"flops_done_backward":242000,    an image, as the plan does it,
 *                                   "savings":"pool_zeros data_zeros",   and how: names of
 *                                   kernels/ops/savings.def, or none; all three may be left out
 *    "kernels_tuned":"conv1:direct",  what kernels.tune: start chose for each convolution and dense
 *                                   layer; "fixed" where it was off; may be left out
 *    "isa":"avx512",                of the workload's own kernels; may be left out
 *    "libraries":"0123456789abcdef",    over the builds of its shared libraries; may be left out
 *    "data_hash":"0123456789abcdef",    over the contents of the data; may be left out
 *    "dataset":"mnist","data_source":"real","data_path":"/data/mnist","train_images":60000,
 *    "test_images":10000,"data_read":"all","data_shard":"global",
 *    "read_s":0.012,                  opening the data and fetching the first share
 *    "optimizer":"adam","lr":0.001,"seed":1,"strategy":"allreduce","sync_variant":"usual",
 *    "sync_algorithm":"auto","compress":"none","overlap":"none","batch":128,"global_batch":256,
 *    "threads":1,
 *    "resumed_steps":0,               done before; 0: no checkpoint was gone on from
 *    "bound":"0","mpi":"MPICH 4.0.2","mpi_thread_level":"funneled","blas":"BLIS 0.9.0 skx",
 *    "flushes_denormals":true,"timer_resolution_ns":10,"timer_overhead_ns":20}
 *   {"type":"step","epoch":0,"step":11,"timed":true,"samples":128,"begin_ns":0,"end_ns":0,"load_ns":0,
 *    "forward_ns":0,"backward_ns":0,"pack_ns":0,"comm_total_ns":0,"comm_exposed_ns":0,
 *    "optimizer_ns":0,"arrive_ns":0,                  clock reading on entering the first wait
 *    "poll_ns":0,
 *    "progress_ns":0,               of the exposed time, tests for messages between computing; may
 *                                   be left out
 *    "inject_ns":0,                 slept as inject.kind says; may be left out
 *    "loss_sum":294.1,"correct":13,"hash":"0011223344556677"}
 *   {"type":"epoch","epoch":0,"seconds":1.5,"steps":235,"samples":60000,"train_loss":0.3,
 *    "train_acc_pct":91.2,"lr":0.001}                 over all ranks
 *   {"type":"eval","epoch":0,"seconds":0.2,"samples":10000,"test_loss":0.09,"test_acc_pct":97.3,
 *    "class_samples":[980,1135,...],"class_correct":[973,1120,...]}    over all ranks, in order
 *                                                     of classes; may be left out, both or none
 *   {"type":"end","status":"ok","steps":70,"timed_steps":60,
 *    "window_ns":0,                 sum of end - begin over timed steps, this rank
 *    "loop_ns":0,                   from the first one's begin to the last one's end, all included
 *    "window_cpu_ns":0,             user and system time of the process inside the window
 *    "poll_ns":0,                   spent polling in the timed steps
 *    "calls":60,"bytes_payload":5241600,"bytes_wire":5241600,"messages_wire":60,    in timed steps
 *    "wire_source":"formula: rabenseifner",
 *    "bytes_nic":5260000,           sent by the node's interface meanwhile, headers included; null
 *                                   where nobody counts; may be left out
 *    "fetches":2,"fetch_s":0.011,   shares of the data fetched before or between steps, mean; null
 *                                   where there were none; fetch_s may be left out
 *    "infinite":0,                  numbers of gradients and sums that became infinite in fp16, in
 *                                   all steps; left out without fp16
 *    "diverged_step":17,"diverged":"loss is nan",    the first step, from 1, after which a loss or
 * a weight of this rank was not finite; left out: all were "user_s":1.0,"sys_s":0.1,"rss_mib":98.2,
 * peak of the process up to its last step or evaluation, of which the data set had
 *    "data_mib":44.9,"libraries_mib":22.1,       so much, and what was there before it began;
 *                                   null or left out: unknown
 *    "checkpoints":3,"checkpoint_s":0.05,    written between the steps of this run
 *    "check":"step","weights_equal":true,"first_difference":"",        null: not compared
 *    "replays":0,"replay_ns":null,  a step's calls without computing, median; may be left out
 *    "batch_norm_calls":0,"batch_norm_bytes":0,"batch_norm_ns":0}      its sums, in all steps
 *
 * begin and end are CLOCK_MONOTONIC: comparable between the ranks of a node. In accuracy runs steps
 * are summed up in `epoch` lines and only the last epoch's first 200 steps are written out. A
 * resumed run repeats the `epoch` and `eval` lines of before. */
#ifndef SCALEBENCH_BENCH_RECORD_RECORD_H
#define SCALEBENCH_BENCH_RECORD_RECORD_H

#include <jansson.h>
#include <stdio.h>

#include "kernels/base/error.h"

#define RECORD_SCHEMA 1

/* The record of one rank, being written. */
struct recorder {
    const char *dir; /* borrowed; NULL: nothing is kept */
    int rank;
    FILE *out; /* DIR/rank.N.jsonl until recorder_finish */
};

/* Begins DIR/rank.N.jsonl. ERR_SYSTEM when that cannot be written. */
enum status recorder_open(struct recorder *r, const char *dir, int rank, struct error *e);

/* Whether recorder_write will find DIR/rank.N.jsonl writable. ERR_ARGUMENT when not. */
enum status recorder_check(const char *dir, int rank, struct error *e);

/* A result of training, which may be infinite or no number. */
json_t *record_real(double x);

/* Writes one line; takes over `line`, which may be NULL when there was no memory for it. ERR_SYSTEM
 * when the file cannot be written. */
enum status recorder_add(struct recorder *r, json_t *line, struct error *e);

/* Ends the file. ERR_SYSTEM when it could not be written in full. */
enum status recorder_finish(struct recorder *r, struct error *e);
void recorder_close(struct recorder *r);

#endif
