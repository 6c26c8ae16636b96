/* comm_sweep: what every strategy costs for a flat tensor or for the tensors of a network, beside
 * MPI_Allreduce in the same rounds, and whether it sums. */
#pragma once

#include <mpi.h>
#include <stdio.h>

#include "bench/record/csv.h"
#include "bench/spec/spec.h"
#include "bench/workloads/sweeps/arguments.h"
#include "comm/algorithm.h"
#include "comm/strategy.h"
#include "kernels/base/error.h"
#include "kernels/base/stats.h"

enum { CONTENDERS_MAX = 4 * (STRATEGIES + VARIANTS) + 2 * COMPRESSORS };

/* An operation that is timed: MPI_Allreduce by itself, or a strategy in one of its configurations. */
struct contender {
    bool is_raw; /* by the algorithm of `config` */
    enum strategy_kind kind;
    struct strategy_config config;
    struct sync *sync;          /* of a strategy */
    real *sums;                 /* [n], of MPI_Allreduce, in place */
    struct optimizer optimizer; /* plain descent at rate 1: parameters are minus the sums */
    void (*serve)(void *arg);   /* what the strategy does while this rank waits, of waiter */
    void *serve_arg;
    uint64_t steps;   /* so far; odd steps sum gradients, even ones their negatives */
    double *round_ns; /* [rounds], slowest rank */
    struct mem_room memory;
    double calls, bytes_payload, messages_sent, bytes_sent; /* of one step on this rank */
    bool is_right;    /* what it left so far is what it promises */
    double sum_error; /* of a compressor: relative norm of what its last checked step is off */
    double median_ns; /* of rounds; NAN: it could not run. Set with is_ok when its row is printed */
    bool is_ok;       /* verdict */
};

const char *wait_name(enum wait_kind kind);

enum {
    SWEEP_BEFORE = OPT_OWN - 1,
#define OPTION(id, ...) id,
#include "bench/workloads/sweeps/comm/options.def"
};

struct sweep_options {
    struct config config;         /* texts are borrowed from it */
    const char *gradients;        /* "link", a size or a network */
    size_t bytes;                 /* of that size; else 0 */
    struct contender compared[2]; /* only these two, with each other */
    bool compares;
    const char
        *spoil; /* the strategy whose gradients are made wrong, to see that verdicts notice; NULL */
    int rounds;
    const char *record;  /* folder for the tables; NULL: standard output */
    double memory_bytes; /* of strategies that are open at the same time, on a node */
    bool help;
};

/* ERR_SPEC or ERR_ARGUMENT with what is wrong and what is accepted. The configuration is freed in any case. */
enum status options_parse(struct sweep_options *o, int argc, char **argv, struct error *e);
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

void rows_write_header(FILE *out);

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
};

/* The ranks and what they share. */
struct sweep {
    const struct sweep_options *options;
    int rank, ranks, local_ranks, nodes;
    int *node_of; /* [ranks] the node of each */
    struct waiter waiter;
    struct exec exec;
    bool can_choose;                   /* the library lets its algorithms be chosen */
    struct algorithm_settings library; /* as the process began */
    struct link_fit fit;
    struct link_model link; /* its middle */
    char mpi[64];
    FILE *out; /* NULL on ranks that print nothing */
    int wrong; /* rows whose verdict is bad */
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

/* Measures messages and local sums, prints their rows if these are swept, and sets s->fit and s->link. Collective. */
enum status link_measure(struct sweep *s, struct error *e);
bool link_is_swept(const struct sweep_options *o);
/* link.csv, the coefficients, in the folder of the record if there is one. */
enum status link_write(const struct sweep *s, struct error *e);
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

/* What the command line names. ERR_SPEC and its like of a network, on all ranks. Freed in any case. */
enum status problem_open(struct problem *p, const struct sweep_options *o, struct error *e);
void problem_close(struct problem *p);

/* Steps of a round. */
int round_steps(const struct sweep *s, const struct problem *p, const struct contender *c);

/* Counts ranks and nodes and opens s->waiter. */
enum status ranks_open(struct sweep *s, struct error *e);
