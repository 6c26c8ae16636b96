/* Finds when each rank ends a program of communication operations. Sweeps all messages, round by
 * round, with a clock per rank.
 *
 * A message occupies the sender and the interfaces at both ends for alpha + bytes * beta (Hockney;
 * Thakur, Rabenseifner and Gropp, "Optimization of collective communication operations in MPICH",
 * 2005). Interfaces are full duplex. Each rank has one interface to the memory of its host, and all
 * ranks of a host share one interface to the network. A rank ends a round when it has sent and
 * received its messages and finished its additions. It adds a message while later messages arrive.
 * Operations run one after another. No operation starts before backward has produced its gradients.
 * Computing and communication do not slow each other down.
 *
 * A message between hosts on different leaf switches also occupies the links from both leaves to
 * the spine switches. All hosts of a leaf share the links of that leaf.
 *
 * The interface of a host or leaf serves messages round by round. Within a round, its ranks send in
 * the order in which they are ready, and receive in the order in which their first incoming
 * messages leave. */
#pragma once

#include "comm/cost/program.h"

enum { LINK_PACES = 7, LINK_PACE_NAME = 24 };
/* Percentile of each element of link_model.paces, from 0 (minimum) to 100 (maximum). */
extern const double link_percentiles[LINK_PACES];
/* Writes the name of a row of link.csv to `name`: pace_P with P = link_percentiles[percentile],
 * such as pace_90. Returns `name`. */
const char *link_pace_name(char name[LINK_PACE_NAME], int percentile);

/* alpha: seconds per message; beta: seconds per byte sent; gamma: seconds per byte added. */
struct link_model {
    double alpha_s, beta_s, gamma_s;
    /* percentiles of a message's time divided by the median time of messages of its size; all 0:
     * message times do not scatter */
    double paces[LINK_PACES];
};

/* Returns quantile `u` (0 to 1) of a message's time divided by the median time of messages of its
 * size. Interpolates between link->paces. Returns 1 if message times do not scatter. */
double link_pace(const struct link_model *link, double u);

struct sweep_machine {
    struct link_model memory;  /* model of links within a host; its gamma is used on all hosts */
    struct link_model network; /* links between hosts; gamma is not used */
    double delay_s;            /* additional latency between hosts (s), during which no interface is
                       occupied */
    /* whether only sending occupies a host's interface, as on emulated hosts */
    bool receives_freely;
    /* size of the token bucket of a host's interface (s): after a pause, the interface sends at
     * once as many bytes as the link carries in burst_s seconds */
    double burst_s;
    /* size of the socket buffer (bytes): at most this much of a message to another host leaves
     * while the sender computes */
    double socket_bytes;
    int leaf_hosts;        /* number of consecutive hosts on a leaf switch; 0: one switch */
    int leaf_spines;       /* number of links from a leaf switch to the spine switches, at most
                              leaf_hosts */
    struct node_map hosts; /* hosts of the ranks; node_of is borrowed */
};

/* Returns a machine with all ranks on one host. */
struct sweep_machine sweep_machine_of(const struct link_model *memory, int ranks);
/* sweep_add_s returns the time (s) in which a rank adds `count` received numbers. sweep_work_s
 * returns the time (s) in which a rank adds r->added numbers and copies r->copied numbers. */
double sweep_add_s(const struct sweep_machine *m, const struct operation *op, size_t count);
double sweep_work_s(const struct sweep_machine *m, const struct operation *op,
                    const struct round *r);

struct clock_sweep {
    struct reader reader; /* advances the clocks by each operation */
    struct sweep_machine machine;
    int ranks, hosts, leaves;
    const double *ready_s; /* [tensors] time (s) from the start of the step until each gradient is
                              ready; NULL: all times are 0; borrowed */
    /* [ranks] `begins_s`: start of each rank's step. `paces`: factor of ready_s on each rank.
     * Gradient i of rank r is ready at begins_s[r] + paces[r] ready_s[i]. Both NULL: starts 0,
     * factors 1. Borrowed. */
    const double *begins_s, *paces;
    /* [n_calls] times at which a computing rank calls MPI, ascending: rank r makes call i at
     * begins_s[r] + paces[r] calls_s[i]. The last time is the end of compute. Messages advance only
     * at these calls. NULL: messages advance at any time. Borrowed. */
    const double *calls_s;
    size_t n_calls;
    uint64_t seed; /* seed of the random factors of transfer times; 0: all factors are 1 */
    /* [ranks] clock of each rank: start time (default 0) before a sweep, end time after it */
    double *clock_s;
    /* The following members are internal. An array over interfaces has one element per rank, then
     * one per host, then one per leaf. */
    struct schedule *schedules; /* [ranks] each rank's schedule of the current operation */
    struct round *rounds;       /* [ranks] each rank's current round */
    double *begin_s;            /* [ranks][ROUND_TRANSFERS] start time of each transfer */
    double *pace;               /* [ranks][ROUND_TRANSFERS] factor of each transfer time */
    uint64_t paces_drawn;       /* number of transfer-time factors drawn so far */
    double *start_s, *sent_s;   /* [ranks] start of the operation, and end of the last send */
    double
        *posts_s; /* [ranks] time at which a rank hands its messages of a round to its interface */
    double *leaves_s; /* [ranks] time at which the first message to each rank in a round starts to
                         leave its sender */
    /* [ranks] ranks grouped by leaf, or by host if there are no leaves; each group in the order in
     * which its interface serves the ranks */
    int *order;
    /* [ranks + hosts + leaves] time until which each interface is busy */
    double *sending_s, *receiving_s;
};

/* Allocates a sweep. Call clock_sweep_close in any case. */
enum status clock_sweep_open(struct clock_sweep *w, const struct sweep_machine *machine, int ranks,
                             struct error *e);
/* Returns the largest of the ranks' simulated clocks (s). */
double clock_sweep_latest_s(const struct clock_sweep *w);
void clock_sweep_close(struct clock_sweep *w);
