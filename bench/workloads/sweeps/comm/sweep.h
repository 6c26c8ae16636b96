/* comm_sweep: times every strategy on one flat tensor or on a network's tensors, and checks the
 * strategy's sums. The rounds that time a strategy also time MPI_Allreduce, for comparison. */
#pragma once

#include <mpi.h>
#include <stdio.h>

#include "bench/record/sweep_files.h"
#include "bench/spec/spec.h"
#include "bench/workloads/sweeps/arguments.h"
#include "comm/algorithm.h"
#include "comm/cost/sweep.h"
#include "comm/strategy.h"
#include "kernels/base/error.h"
#include "kernels/base/stats.h"

enum { CONTENDERS_MAX = 4 * (STRATEGIES + VARIANTS) + 2 * COMPRESSORS };

/* An operation to time: MPI_Allreduce alone, or a strategy in one configuration. */
struct contender {
    bool is_raw; /* whether the operation is MPI_Allreduce, with the algorithm in `config` */
    enum strategy_kind kind;
    struct strategy_config config;
    struct sync *sync; /* the open strategy; NULL: the operation is MPI_Allreduce */
    real *sums;        /* [n_params] in-place buffer of MPI_Allreduce */
    /* SGD with learning rate 1, so that parameters become minus the sums */
    struct optimizer optimizer;
    /* the strategy's callback for waiter.serve: work to do while this rank waits */
    void (*serve)(void *arg);
    void *serve_arg;
    /* number of steps so far; odd steps sum gradients, even steps their negatives */
    uint64_t steps;
    double *round_ns; /* [rounds] mean time of a step on this rank (ns); after the last round, the
                         maximum over ranks */
    struct mem_room memory;
    double calls, bytes_payload, messages_sent, bytes_sent; /* counts of this rank's last step */
    bool is_right;    /* whether all results so far were correct */
    double sum_error; /* if compressed: relative error (L2 norm) of the last checked sum */
    /* Median of round_ns; NAN: the operation cannot run. median_ns and is_ok are set when the row
     * is printed. */
    double median_ns;
    bool is_ok; /* whether the operation's row has verdict ok */
};

const char *wait_name(enum wait_kind kind);

enum {
    SWEEP_BEFORE = OPT_OWN - 1,
#define OPTION(id, ...) id,
#include "bench/workloads/sweeps/comm/options.def"
};

struct sweep_options {
    struct config config;         /* parsed options; owns the strings of the other members */
    const char *gradients;        /* value of --gradients: a size such as 64KiB, a network, a model
                                     file, or "link" (measures single messages and local sums,
                                     without gradients) */
    size_t bytes;                 /* gradient size if `gradients` is a size; otherwise 0 */
    struct contender compared[2]; /* the two operations of --compare */
    bool compares;
    const char *spoil; /* strategy whose gradients are falsified to test the verdicts; NULL: none */
    int rounds;
    const char *name;   /* name of the link in link.csv */
    const char *record; /* folder for the tables; NULL: standard output */
    /* limit on the memory per node (bytes) of all operations that are open at the same time */
    double memory_bytes;
    bool help;
};

/* Parses the command line. ERR_SPEC or ERR_ARGUMENT with the expected and the found value. The
 * caller frees o->config in any case. */
enum status options_parse(struct sweep_options *o, int argc, char **argv, struct error *e);
void options_help(FILE *out);

/* Vector additions y = y + x, measured on all ranks at the same time. ADDITIONS: number of vector
 * sizes. `bytes`: size of one vector. `seconds`: median time of one addition. */
enum { ADDITIONS = 5 };
struct addition {
    double bytes, seconds;
};

/* Coefficients of the link model (comm/cost/sweep.h): medians and confidence intervals. alpha_s and
 * beta_s are NAN if no messages were sent. */
struct link_fit {
    struct interval alpha_s, beta_s, gamma_s;
    /* percentiles of a message's time divided by the median time of messages of its size; all 0 if
     * no messages were sent */
    double paces[LINK_PACES];
};

/* The gradients to sum: one vector of a given size, or the tensors of a network. */
struct problem {
    const char *part, *model;
    const struct net_desc *desc; /* points to `net`; in a copy, to the original's `net` */
    size_t *counts;              /* [desc->n_tensors] number of elements of each tensor */
    size_t *rows;                /* [desc->n_tensors] rows of each matrix; 0: not a matrix */
    struct net_desc net;
    struct tensor_desc flat; /* the only tensor, if --gradients is a size */
    bool is_net;
};

/* State shared by all operations of the sweep. */
struct sweep {
    const struct sweep_options *options;
    int rank, ranks, local_ranks, nodes;
    int *node_of; /* [ranks] node of each rank */
    struct waiter waiter;
    struct exec exec;
    bool can_choose; /* whether the MPI library lets users choose its algorithms */
    /* settings of the MPI library's algorithms when the process started */
    struct algorithm_settings library;
    struct link_fit fit;
    struct link_model link;               /* medians of the coefficients in `fit` */
    struct addition additions[ADDITIONS]; /* times of vector additions, smallest vectors first */
    char mpi[64];
    FILE *out; /* NULL on ranks that print nothing */
    int wrong; /* number of rows whose verdict is "wrong sum" or "wrong count" */
};

/* Lists the operations to time, MPI_Allreduce first; returns their number. */
int contenders_list(const struct sweep_options *o, struct contender contenders[CONTENDERS_MAX]);

/* Parses the name of an operation, such as "mpi_allreduce", "allreduce/ring" or "allreduce+topk".
 * After "/": a variant or a library algorithm; after "+": a compressor. All other settings come
 * from o->config. ERR_ARGUMENT if the name is invalid. */
enum status contender_parse(const struct sweep_options *o, const char *option, const char *text,
                            struct contender *c, struct error *e);
/* CONTENDER_NAME: size of the buffer `text`. contender_name writes an operation's name to `text`,
 * in the form that contender_parse reads, and returns `text`. */
#define CONTENDER_NAME 96
const char *contender_name(const struct contender *c, char text[CONTENDER_NAME]);

/* Returns the time (s) in which a rank adds two vectors of `bytes` bytes while all other ranks do
 * the same. Interpolates between the sizes in s->additions; outside, the time is proportional to
 * `bytes`. */
double addition_s(const struct sweep *s, double bytes);
/* Predicts this rank's total calls, messages and bytes in one period, after which messages repeat.
 * The returned `steps` is the number of steps in the period. */
struct cost contender_cost(const struct sweep *s, const struct problem *p,
                           const struct contender *c);

/* Sets *seconds to the mean time of a step on the slowest rank, as the link model predicts it. */
enum status contender_model_s(double *seconds, const struct sweep *s, const struct problem *p,
                              const struct contender *c, struct error *e);

/* Opens a contender for the tensors of `p`. Collective. ERR_UNAVAILABLE on all ranks if the
 * contender cannot run; the error of rank 0 states the reason. */
enum status contender_open(struct sweep *s, const struct problem *p, struct contender *c,
                           struct error *e);
void contender_close(struct sweep *s, struct contender *c);

/* Call contender_enter before a contender's steps and checks, and contender_leave after them. In
 * between, every wait calls the contender's callback `serve`, if it has one. contender_leave is
 * collective and returns when all ranks have called it, since a rank may have to serve others until
 * then. */
void contender_enter(struct sweep *s, const struct contender *c);
enum status contender_leave(struct sweep *s, struct error *e);

/* Makes the MPI library use the contender's algorithm until contender_choose is called again. */
enum status contender_choose(struct sweep *s, const struct contender *c, struct error *e);

/* Gradients are integers that repeat after PERIOD numbers. gradients_fill writes a rank's gradients
 * of the contender's latest step; gradients_sum writes their sum over all ranks. */
enum { PERIOD = 101 };
void gradients_fill(const struct contender *c, int rank, real *to, size_t n);
void gradients_sum(const struct sweep *s, const struct contender *c, real sums[PERIOD]);

/* Runs one step on this rank's gradients. *ns: time of the step without the optimizer. */
enum status contender_step(struct sweep *s, const struct problem *p, struct contender *c,
                           int64_t *ns, struct error *e);
/* Checks the results of the contender's last step on every rank. With a compressor, runs and checks
 * a further step instead. Sets c->is_right to false on all ranks if any rank has a wrong result.
 * Collective. */
enum status contender_check(struct sweep *s, const struct problem *p, struct contender *c,
                            struct error *e);

/* Measures messages and local sums, and sets s->fit, s->link and s->additions. Prints the measured
 * rows if --gradients is link and --compare is not given. Collective. */
enum status link_measure(struct sweep *s, struct error *e);
bool link_is_swept(const struct sweep_options *o);
/* If --record is given, writes the coefficients to link.csv in that folder. */
enum status link_write(const struct sweep *s, struct error *e);
void sweep_print_link(struct sweep *s, const char *operation, size_t bytes, struct interval seconds,
                      double model_s);

/* Times all operations for the tensors of `p` and prints their rows. Then times the fastest exact
 * strategy without a compressor against the fastest algorithm of MPI_Allreduce, if both exist. */
enum status sweep_problem(struct sweep *s, const struct problem *p, struct error *e);
/* Times the two operations of --compare against each other. */
enum status sweep_compare(struct sweep *s, const struct problem *p, struct error *e);
/* Prints the row of contender `c`, compared with `other`, which was timed in the same rounds.
 * `steps`: number of steps per round. Sets c->median_ns and c->is_ok. Collective. */
enum status sweep_print_row(struct sweep *s, const struct problem *p, struct contender *c,
                            const struct contender *other, int steps, struct error *e);
void sweep_print_skipped(struct sweep *s, const struct problem *p, const struct contender *c);

/* Opens the vector or network that --gradients selects; does nothing for `link`. If the network is
 * invalid, all ranks return ERR_SPEC or ERR_SHAPE. Call problem_close in any case. */
enum status problem_open(struct problem *p, const struct sweep_options *o, struct error *e);
void problem_close(struct problem *p);

/* Returns the number of steps of an operation in each round. */
int round_steps(const struct sweep *s, const struct problem *p, const struct contender *c);

/* Finds the number of ranks and nodes and the node of each rank, and opens s->waiter. */
enum status ranks_open(struct sweep *s, struct error *e);
