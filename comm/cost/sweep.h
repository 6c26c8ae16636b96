/* When every rank has finished the operations of a program: a sweep over the messages of all ranks, round by round,
 * which moves one clock per rank.
 *
 * A message occupies the sender and the interfaces at both ends for alpha + bytes beta (Hockney; Thakur, Rabenseifner
 * and Gropp, "Optimization of collective communication operations in MPICH", 2005). Interfaces are full duplex: a rank
 * has one in the memory of its host, all ranks of a host share one to the network. A rank ends a round when it has sent
 * its messages, received those of others, and added what is to be added while later messages arrive. It waits for
 * nobody else, so that a late rank delays others only through its messages.
 *
 * The interface of a host serves messages round by round, in the order of ranks, not in the order of their clocks. */
#pragma once

#include "comm/cost/program.h"

/* alpha: seconds per message; beta: seconds per byte sent; gamma: seconds per byte added. */
struct link_model {
    double alpha_s, beta_s, gamma_s;
};

struct sweep_machine {
    struct link_model memory;  /* between ranks of a host; its gamma holds everywhere */
    struct link_model network; /* between hosts */
    double delay_s;            /* of a message between hosts; occupies nothing */
    bool receives_freely;      /* hosts limit only what they send, as emulated hosts do */
    struct node_map hosts;     /* of the ranks; its list is borrowed */
};

/* All ranks on one host, with one link. */
struct sweep_machine sweep_machine_of(const struct link_model *memory, int ranks);

struct clock_sweep {
    struct reader reader; /* runs the operations that it is given on all ranks */
    struct sweep_machine machine;
    int ranks;
    double *clock_s; /* [ranks] when each begins, then when it has finished; 0 at first */
    /* Internal: of a round, and of the interfaces, which are `hosts` to the network behind one for each rank. */
    struct schedule *schedules; /* [ranks] */
    struct round *rounds;       /* [ranks] */
    double *begin_s;            /* [ranks][ROUND_TRANSFERS] when each transfer leaves */
    double *start_s, *sent_s; /* [ranks] when each began the operation, and has sent its messages */
    double *sending_s, *receiving_s; /* [ranks + hosts] until when interfaces are occupied */
};

/* Closed with clock_sweep_close in any case. */
enum status clock_sweep_open(struct clock_sweep *w, const struct sweep_machine *machine, int ranks,
                             struct error *e);
/* When the last rank has finished. */
double clock_sweep_latest_s(const struct clock_sweep *w);
void clock_sweep_close(struct clock_sweep *w);
