/* comm_sweep: what every strategy costs for flat tensors of round sizes and for the tensors of each
 * network, beside MPI_Allreduce in the same turns, and whether it sums. */
#ifndef SCALEBENCH_BENCH_WORKLOADS_SWEEPS_COMM_SWEEP_H
#define SCALEBENCH_BENCH_WORKLOADS_SWEEPS_COMM_SWEEP_H

#include <mpi.h>
#include <stdio.h>

#include "bench/record/csv.h"
#include "bench/spec/spec.h"
#include "comm/algorithm.h"
#include "comm/strategy.h"
#include "kernels/base/error.h"
#include "kernels/base/progress.h"
#include "kernels/base/stats.h"

enum { SIZES_MAX = 64, NAMES_MAX = 64, TASKS_MAX = 4 * SIZES_MAX };

/* Names separated by commas. n = 0 with `none`: nothing; without: everything. */
struct choice {
    char text[512];
    const char *names[NAMES_MAX];
    int n;
    bool none;
};

/* What may be timed: MPI_Allreduce by itself, or a strategy in one of its variants. */
struct operation {
    bool is_raw;
    enum strategy_kind kind; /* of MPI_Allreduce that of the strategy that only calls it */
    enum strategy_variant variant;
    enum allreduce_algorithm algorithm;
    enum compressor_kind compressor;
};

/* "mpi_allreduce", "gather_scatter/mpich", "allreduce/ring", "allreduce+topk": a variant, or an
 * algorithm of what the library sums, and a compressor. ERR_ARGUMENT. */
enum status operation_parse(const char *option, const char *text, struct operation *o,
                            struct error *e);

struct sweep_options {
    struct config config;    /* sync.*: segment, caps and whatever strategies take */
    size_t sizes[SIZES_MAX]; /* bytes of flat tensors */
    int n_sizes;
    struct choice models, strategies, compressors;
    struct operation compared[2]; /* only these two, with each other */
    bool compares;
    const char
        *spoil; /* the strategy whose gradients are made wrong, to see that verdicts notice */
    enum wait_kind wait;
    bool wait_is_set;
    int turns;
    const char *link;    /* file for the coefficients of the model; NULL: none */
    const char *keep;    /* folder for what is whole of a sweep that is stopped; NULL: none */
    char command[4096];  /* the words before --keep, that must be the same to go on */
    bool plans;          /* says how long it is expected to take, and ends */
    bool terminal;       /* standard error is a terminal's in the end */
    double memory_bytes; /* of strategies that are open at the same time, on a node */
    bool help;
};

/* ERR_ARGUMENT with what is wrong and what is accepted. Texts are borrowed from argv. */
enum status options_parse(struct sweep_options *o, int argc, char **argv, struct error *e);
void options_free(struct sweep_options *o);
void options_help(FILE *out);
bool choice_has(const struct choice *c, const char *name);
const char *wait_name(enum wait_kind wait);

/* One line of the table: texts as they stand there, numbers NAN where unknown. */
#define COLUMN(id, type, unit, meaning) CSV_CELL_##type id;
struct comm_row {
#include "bench/workloads/sweeps/comm/csv_comm.def"
};
#undef COLUMN

void rows_print_columns(FILE *out); /* name, unit and meaning of each, for people */

/* The model's coefficients with their intervals; NAN where nothing was sent. */
struct link_fit {
    struct interval alpha_s, beta_s, gamma_s;
};

/* Gradients to be summed. */
struct problem {
    const char *part, *model;
    const struct net_desc *desc;
    size_t *counts; /* [desc->n_tensors] */
    size_t *rows;   /* [desc->n_tensors] of tensors that are matrices, else 0 */
};

/* A problem of the sweep. */
struct task {
    struct problem problem;
    struct net_desc desc;
    struct tensor_desc flat; /* of a size, which is no network */
    bool is_net;
    char name[80]; /* by content */
    bool is_kept;  /* its rows are there from before */
    double expected_s;
};

/* All of them; on rank 0 also what is expected of them. */
struct tasks {
    struct task *all[TASKS_MAX];
    int n, at;                 /* at: the one that is being swept */
    double expected_s, left_s; /* by the model: of all that are not kept; from `at` on */
    int64_t begin_ns;
    struct progress progress;
};

/* The ranks and what they share. */
struct sweep {
    const struct sweep_options *options;
    int rank, ranks, local_ranks, nodes;
    struct waiter waiter;
    struct exec exec;
    bool can_choose;                   /* the library lets its algorithms be chosen */
    struct algorithm_settings library; /* as the process began */
    struct link_fit fit;
    struct link_model link; /* its middle */
    char mpi[64];
    FILE *out;   /* NULL on ranks that print nothing */
    bool begun;  /* the table has its header */
    bool all_ok; /* no verdict was bad */
    struct tasks tasks;
    FILE *kept;  /* on rank 0: where rows go until they are whole; NULL: to `out` */
    bool was_ok; /* all_ok when these began */
};

enum { ENTRIES_MAX = 4 * (STRATEGIES + VARIANTS) + 2 * COMPRESSORS };

/* An operation at work. */
struct entry {
    bool is_raw; /* by the algorithm of `config` */
    enum strategy_kind kind;
    struct strategy_config config;
    bool is_open;
    struct sync *sync;          /* of a strategy */
    real *sums;                 /* [n], of MPI_Allreduce, in place */
    struct optimizer optimizer; /* plain descent at rate 1: parameters are minus the sums */
    void (*serve)(void *arg);   /* what the strategy does while this rank waits, of waiter */
    void *serve_arg;
    uint64_t steps;  /* so far; odd steps sum gradients, even ones their negatives */
    double *turn_ns; /* [turns], slowest rank */
    double calls, bytes_payload, messages_sent, bytes_sent; /* of one step on this rank */
    bool is_right;    /* what it left so far is what it promises */
    double sum_error; /* of a compressor: relative norm of what its last checked step is off */
    double median_ns; /* of turns; NAN: it could not run. Set with is_ok when its row is printed */
    bool is_ok;       /* verdict */
};

/* The operations to be timed, MPI_Allreduce first; returns how many. */
int entries_list(const struct sweep_options *o, struct entry entries[ENTRIES_MAX]);
/* The two that are compared with each other. */
void entries_compared(const struct sweep_options *o, struct entry pair[2]);

/* As operation_parse takes it. */
#define ENTRY_NAME 96
const char *entry_name(const struct entry *entry, char text[ENTRY_NAME]);

/* Opens an entry for the tensors of `p`: collective. ERR_UNAVAILABLE when it cannot run on these
 * ranks, which all of them know then; *reason says why on rank 0. */
enum status entry_open(struct sweep *s, const struct problem *p, struct entry *entry,
                       struct error *e);
void entry_close(struct sweep *s, struct entry *entry);

/* Around an entry's steps, checks and end: what a strategy does while its rank waits is its own
 * alone; a rank leaves when all have done what it might have to serve. Collective. */
void entry_enter(struct sweep *s, const struct entry *entry);
enum status entry_leave(struct sweep *s, struct error *e);

/* Has the library sum by the entry's algorithm, until the next call. */
enum status entry_choose(struct sweep *s, const struct entry *entry, struct error *e);

/* Gradients are whole numbers that repeat after PERIOD. Those of a rank in the step that `entry`
 * has taken last. */
enum { PERIOD = 101 };
void gradients_fill(const struct entry *entry, int rank, real *to, size_t n);

/* One step on gradients of this rank; *ns is what it took without the optimizer. */
enum status entry_step(struct sweep *s, const struct problem *p, struct entry *entry, int64_t *ns,
                       struct error *e);
/* Whether what the last step left is right on every rank. Collective. */
enum status entry_check(struct sweep *s, const struct problem *p, struct entry *entry,
                        struct error *e);

/* Takes a step; *good: what it left on this rank is what its compressor promises. Collective. */
enum status compressed_check(struct sweep *s, const struct problem *p, struct entry *entry,
                             bool *good, struct error *e);

/* Measures messages and local sums, prints their rows and sets s->fit and s->link. Collective. */
enum status link_measure(struct sweep *s, struct error *e);
/* A table of the coefficients, where one was asked for; whether it can be written, before. */
enum status link_check(const struct sweep *s, struct error *e);
enum status link_write(const struct sweep *s, struct error *e);
enum status sweep_print_link(struct sweep *s, const char *operation, size_t bytes,
                             struct interval seconds, double model_s);

/* Times and prints all operations for the tensors of `p`, then the best against the best. */
enum status sweep_problem(struct sweep *s, const struct problem *p, struct error *e);
/* The two that the command line names, with each other. */
enum status sweep_compare(struct sweep *s, const struct problem *p, struct error *e);
/* The row of one entry, compared with another one of the same turns. */
enum status sweep_print_row(struct sweep *s, const struct problem *p, struct entry *entry,
                            const struct entry *other, int steps, struct error *e);
enum status sweep_print_skipped(struct sweep *s, const struct problem *p,
                                const struct entry *entry);

/* `out` behind the table's header. */
FILE *rows_begin(struct sweep *s);

/* What the command line names. ERR_SPEC and its like of a network, on all ranks. */
enum status tasks_list(struct tasks *tasks, const struct sweep_options *o, struct error *e);
void tasks_free(struct tasks *tasks);
/* Seconds that a problem is expected to take by the model that s->link has. */
double sweep_expect_s(const struct sweep *s, const struct problem *p);
/* Fills expected_s by that, once it is known what is kept. */
void tasks_expect(struct sweep *s);
void tasks_tell_forecast(const struct sweep *s);
void tasks_print_plan(const struct sweep *s);
/* `done` of `all` operations of the present task are timed. */
void tasks_tell_progress(struct sweep *s, const struct problem *p, int done, int all);

/* Without a folder to keep anything in these do nothing. Opens the folder; ERR_DATA on all ranks
 * where it has the rows of another sweep, or one is at work on it. Collective. */
enum status keep_open(struct sweep *s, struct error *e);
/* Whether the rows of that name are there. Collective. */
enum status keep_find(struct sweep *s, const char *name, bool *found, struct error *e);
/* Rows between these are of that name. */
enum status keep_begin(struct sweep *s, const char *name, struct error *e);
enum status keep_end(struct sweep *s, const char *name, struct error *e);
/* Prints rows from before. */
enum status keep_repeat(struct sweep *s, const char *name, struct error *e);
/* Keeps s->fit, or finds it again, on all ranks. */
enum status keep_fit(struct sweep *s, struct error *e);
enum status keep_read_fit(struct sweep *s, struct error *e);

/* Set by a signal that asks to stop. */
bool sweep_is_interrupted(void);
/* ERR_INTERRUPTED on all ranks when a signal has come to one of them. Collective. */
enum status sweep_stop_if_asked(struct sweep *s, struct error *e);

#endif
