/* A server of the parameter server, which holds a part of the parameters. It receives pushes,
 * runs the optimizer and answers. No function here waits: server_serve does all that is possible
 * at once and is called again. Internal to param_server. */
#pragma once

#include "comm/strategy.h"

/* Operations of messages between ranks and servers. */
#define SERVER_PUSH   "push to the parameter servers"
#define SERVER_ANSWER "answer of a parameter server"

/* A rank that alternately pushes gradients and receives weights. */
struct client {
    struct message push, reply;
    real *pushed, *answer;    /* [count] */
    uint64_t pushes, answers; /* since server_open: number of pushes processed, of answers begun */
    bool arrived;             /* a push has arrived and is not processed yet */
};

/* A step that still lacks gradients of some ranks. */
struct open_step {
    int arrived; /* number of ranks whose gradient has arrived */
    uint64_t step;
    double lr;
};

struct server {
    struct sync *s;      /* borrowed */
    MPI_Comm replies;    /* communicator of answers, borrowed; pushes use s->comm */
    size_t begin, count; /* numbers of the arenas that this server holds */
    bool at_once;        /* the optimizer steps on each push separately (async) */
    bool in_order;       /* sums add ranks in the order 0, 1, 2 ... (sync) */
    /* Largest lead over the slowest rank, and largest age of a rank's weights, both in steps. */
    uint64_t staleness;
    /* [ranks]; this rank's own entry has only `pushes`, and `pushed`, borrowed */
    struct client *clients;

    bool opened;             /* the first step has set the optimizer */
    struct optimizer o;      /* optimizer of this part, numbers [0, count) */
    real *params, *state;    /* [count], [slots][count] */
    const real **terms;      /* [ranks] gradients of all ranks, for local_sum */
    real *sums;              /* [staleness + 1][count] */
    struct open_step *steps; /* [staleness + 1] steps from version + 1 on */
    uint64_t version;        /* complete steps; with at_once, processed pushes */
    double lr;               /* with at_once: learning rate of this rank's last step */
    uint64_t base;           /* with at_once: pushes before server_open */
    bool untimed;            /* the caller of server_serve counts the time */
    struct pool *pool;       /* threads of the optimizer; NULL while the network computes */
};

/* Returns the part of server `index` of `servers`: numbers [*begin, *begin + *count). */
void server_range(const struct sync *s, int index, int servers, size_t *begin, size_t *count);

/* Creates a server and starts to receive pushes. */
enum status server_create(struct server *v, struct sync *s, MPI_Comm replies, int servers,
                          struct error *e);
/* Ends a server when no rank pushes any more. */
void server_destroy(struct server *v);

/* Sets the optimizer and copies parameters and state from the arenas, at the first step since
 * creation or server_reset. Later calls do nothing. Every rank counts its pushes from here. Call
 * it before this rank pushes. */
void server_open(struct server *v, const struct optimizer *o, uint64_t step);
void server_reset(struct server *v);

/* Processes this rank's own push, which stays in its gradient arena until the step is done. */
void server_push(struct server *v, uint64_t step, double lr);
/* Returns whether this rank's own push is answered; in order, whether all ranks' pushes are. */
bool server_is_answered(const struct server *v);

/* Processes arrived pushes, runs the optimizer if possible, answers ranks that may continue.
 * Returns MPI's error code. */
int server_serve(struct server *v);
