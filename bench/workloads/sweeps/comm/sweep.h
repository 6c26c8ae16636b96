/* comm_sweep: what every strategy costs for flat tensors of round sizes and for the tensors of each
 * network, beside MPI_Allreduce in the same rounds, and whether it sums. */
#pragma once

#include <mpi.h>
#include <signal.h>
#include <stdio.h>

#include "bench/base/progress.h"
#include "bench/record/csv.h"
#include "bench/spec/spec.h"
#include "bench/workloads/sweeps/arguments.h"
#include "comm/algorithm.h"
#include "comm/strategy.h"
#include "kernels/base/error.h"
#include "kernels/base/stats.h"

enum { SIZES_MAX = 64, PROBLEMS_MAX = 4 * SIZES_MAX };

enum { CONTENDERS_MAX = 4 * (STRATEGIES + VARIANTS) + 2 * COMPRESSORS };

/* An operation that is timed: MPI_Allreduce by itself, or a strategy in one of its configurations. */
struct contender {
    bool is_raw; /* by the algorithm of `config` */
    enum strategy_kind kind;
    struct strategy_config config;
    bool is_open;
    struct sync *sync;          /* of a strategy */
    real *sums;                 /* [n], of MPI_Allreduce, in place */
    struct optimizer optimizer; /* plain descent at rate 1: parameters are minus the sums */
    void (*serve)(void *arg);   /* what the strategy does while this rank waits, of waiter */
    void *serve_arg;
    uint64_t steps;   /* so far; odd steps sum gradients, even ones their negatives */
    double *round_ns; /* [rounds], slowest rank */
    double calls, bytes_payload, messages_sent, bytes_sent; /* of one step on this rank */
    bool is_right;    /* what it left so far is what it promises */
    double sum_error; /* of a compressor: relative norm of what its last checked step is off */
    double median_ns; /* of rounds; NAN: it could not run. Set with is_ok when its row is printed */
    bool is_ok;       /* verdict */
};

const char *const *wait_names(void); /* of enum wait_kind */

struct sweep_options {
    struct config config;    /* sync.*: segment, caps and whatever strategies take */
    size_t sizes[SIZES_MAX]; /* bytes of flat tensors */
    int n_sizes;
    struct choice models, strategies, compressors;
    struct contender compared[2]; /* only these two, with each other */
    bool compares;
    const char
        *spoil; /* the strategy whose gradients are made wrong, to see that verdicts notice */
    enum wait_kind wait;
    bool wait_is_set;
    int rounds;
    const char *link;    /* file for the coefficients of the model; NULL: none */
    const char *store;   /* folder for what is whole of a sweep that is stopped; NULL: none */
    char command[4096];  /* what comes before --keep, which must be the same to go on */
    bool plans;          /* says how long it is expected to take, and ends */
    bool terminal;       /* standard error is a terminal's in the end */
    double memory_bytes; /* of strategies that are open at the same time, on a node */
    bool columns, help;
};

/* ERR_ARGUMENT with what is wrong and what is accepted. Texts are borrowed from argv. */
enum status options_parse(struct sweep_options *o, int argc, char **argv, struct error *e);
void options_free(struct sweep_options *o);
void options_help(FILE *out);

/* One line of the table: texts as they stand there, numbers NAN where unknown. */
#define COLUMN(id, type, unit, meaning) CSV_CELL_##type id;
struct comm_row {
#include "bench/workloads/sweeps/comm/csv_comm.def"
};
struct link_row {
#include "bench/workloads/sweeps/comm/csv_link.def"
};
#undef COLUMN

void rows_write_dictionary(FILE *out, bool for_people); /* else as CSV */

/* The model's coefficients with their intervals; NAN where nothing was sent. */
struct link_fit {
    struct interval alpha_s, beta_s, gamma_s;
};

/* Gradients to be summed: of a size, or of a network. */
struct problem {
    const char *part, *model;
    const struct net_desc *desc; /* its own `net`, of which a copy of the problem borrows */
    size_t *counts;              /* [desc->n_tensors] */
    size_t *rows;                /* [desc->n_tensors] of tensors that are matrices, else 0 */
    struct net_desc net;
    struct tensor_desc flat; /* of a size, which is no network */
    bool is_net;
    char name[80];  /* by content */
    bool is_stored; /* its rows are there from before */
    double expected_s;
};

/* All that a sweep goes through; on rank 0 also what is expected of them. */
struct problems {
    struct problem *all[PROBLEMS_MAX];
    int n, at;                 /* at: the one that is being swept */
    double expected_s, left_s; /* by the model: of all that are not stored; from `at` on */
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
    FILE *out;                                /* NULL on ranks that print nothing */
    bool begun;                               /* the table has its header */
    bool all_ok;                              /* no verdict was bad */
    const volatile sig_atomic_t *interrupted; /* set by a signal that asks to stop */
    struct problems problems;
    FILE *stored; /* on rank 0: where rows go until they are whole; NULL: to `out` */
    bool was_ok;  /* all_ok when these began */
};

/* The operations to be timed, MPI_Allreduce first; returns how many. */
int contenders_list(const struct sweep_options *o, struct contender contenders[CONTENDERS_MAX]);

/* "mpi_allreduce", "gather_scatter/mpich", "allreduce/ring", "allreduce+topk": a variant, or an
 * algorithm of what the library sums, and a compressor; else as o->config says. ERR_ARGUMENT. */
enum status contender_parse(const struct sweep_options *o, const char *option, const char *text,
                            struct contender *c, struct error *e);
/* As contender_parse takes it. */
#define CONTENDER_NAME 96
const char *contender_name(const struct contender *c, char text[CONTENDER_NAME]);

/* What a step of it costs this rank on paper. */
struct cost contender_cost(const struct sweep *s, const struct problem *p,
                           const struct contender *c);

/* Opens a contender for the tensors of `p`: collective. ERR_UNAVAILABLE when it cannot run on these
 * ranks, which all of them know then; *reason says why on rank 0. */
enum status contender_open(struct sweep *s, const struct problem *p, struct contender *c,
                           struct error *e);
void contender_close(struct sweep *s, struct contender *c);

/* Around a contender's steps, checks and end: what a strategy does while its rank waits is its own
 * alone; a rank leaves when all have done what it might have to serve. Collective. */
void contender_enter(struct sweep *s, const struct contender *c);
enum status contender_leave(struct sweep *s, struct error *e);

/* Has the library sum by the contender's algorithm, until the next call. */
enum status contender_choose(struct sweep *s, const struct contender *c, struct error *e);

/* Gradients are whole numbers that repeat after PERIOD. Those of a rank in the step that `contender`
 * has taken last, and their sum over all ranks. */
enum { PERIOD = 101 };
void gradients_fill(const struct contender *c, int rank, real *to, size_t n);
void gradients_sum(const struct sweep *s, const struct contender *c, real sums[PERIOD]);

/* One step on gradients of this rank; *ns is what it took without the optimizer. */
enum status contender_step(struct sweep *s, const struct problem *p, struct contender *c,
                           int64_t *ns, struct error *e);
/* Whether what the last step left is right on every rank. Collective. */
enum status contender_check(struct sweep *s, const struct problem *p, struct contender *c,
                            struct error *e);

/* Measures messages and local sums, prints their rows and sets s->fit and s->link. Collective. */
enum status link_measure(struct sweep *s, struct error *e);
/* A table of the coefficients, where one was asked for; whether it can be written, before. */
enum status link_check(const struct sweep *s, struct error *e);
enum status link_write(const struct sweep *s, struct error *e);
void link_write_dictionary(FILE *out);
void sweep_print_link(struct sweep *s, const char *operation, size_t bytes, struct interval seconds,
                      double model_s);

/* Times and prints all operations for the tensors of `p`, then the best against the best. */
enum status sweep_problem(struct sweep *s, const struct problem *p, struct error *e);
/* The two that the command line names, with each other. */
enum status sweep_compare(struct sweep *s, const struct problem *p, struct error *e);
/* The row of one contender, compared with another one of the same rounds. */
enum status sweep_print_row(struct sweep *s, const struct problem *p, struct contender *c,
                            const struct contender *other, int steps, struct error *e);
void sweep_print_skipped(struct sweep *s, const struct problem *p, const struct contender *c);

/* `out` behind the table's header. */
FILE *rows_begin(struct sweep *s);

/* What the command line names. ERR_SPEC and its like of a network, on all ranks. */
enum status problems_list(struct problems *problems, const struct sweep_options *o,
                          struct error *e);
void problems_free(struct problems *problems);
/* `done` of `all` operations of the present problem are timed. */
void problems_tell_progress(struct sweep *s, const struct problem *p, int done, int all);

/* Steps of a round. */
int round_steps(const struct sweep *s, const struct problem *p, const struct contender *c);

/* Fills expected_s of every problem by the model that s->link has, once it is known what is
 * stored. */
void forecast_make(struct sweep *s);
void forecast_tell(const struct sweep *s);
void forecast_print(const struct sweep *s);

/* Without a folder to store anything in these do nothing. Opens the folder; ERR_DATA on all ranks
 * where it has the rows of another sweep, or one is at work on it. Collective. */
enum status store_open(struct sweep *s, struct error *e);
/* Whether the rows of that name are there. Collective. */
enum status store_find(struct sweep *s, const char *name, bool *found, struct error *e);
/* Rows between these are of that name. */
enum status store_begin(struct sweep *s, const char *name, struct error *e);
enum status store_end(struct sweep *s, const char *name, struct error *e);
/* Prints rows from before. */
enum status store_repeat(struct sweep *s, const char *name, struct error *e);
/* Stores s->fit, or finds it again, on all ranks. */
enum status store_fit(struct sweep *s, struct error *e);
enum status store_read_fit(struct sweep *s, struct error *e);

/* Counts ranks and nodes, binds this rank to a core of its own and opens s->waiter. */
enum status ranks_open(struct sweep *s, struct error *e);
/* ERR_INTERRUPTED on all ranks when a signal has come to one of them. Collective. */
enum status ranks_stop_if_asked(struct sweep *s, struct error *e);
