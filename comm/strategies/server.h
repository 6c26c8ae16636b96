/* A server of strategy param_server, which holds a part of the parameters. It receives gradients
 * (pushes), runs the optimizer and sends weights (answers). Only server_destroy waits: server_serve
 * does the work that is possible now and is called again later. */
#pragma once

#include "comm/strategy.h"

/* Names of the messages between ranks and servers, as printed in errors. */
#define SERVER_PUSH   "push to the parameter servers"
#define SERVER_ANSWER "answer of a parameter server"

/* A rank that alternately pushes gradients to this server and receives weights. */
struct client {
    struct message push, reply;
    /* [count] gradients received from the rank; copy of the weights for the rank (unused if
     * in_order) */
    real *pushed, *answer;
    /* counts since server_open: this client's processed pushes, and the answers whose sending has
     * begun */
    uint64_t pushes, answers;
    bool arrived; /* whether an unprocessed push has arrived */
};

/* A step for which the gradients of some ranks have not arrived yet. */
struct open_step {
    int arrived; /* number of ranks whose gradient of step `step` has arrived */
    uint64_t step;
    double lr;
};

struct server {
    struct sync *s;   /* borrowed */
    MPI_Comm replies; /* communicator for answers, borrowed; pushes use s->comm */
    /* this server holds elements [begin, begin + count) of the arenas */
    size_t begin, count;
    bool at_once;  /* whether the variant is async: the optimizer runs on each push separately */
    bool in_order; /* whether the variant is sync: gradients are added in the order of ranks */
    /* Variant stale: maximum number of steps by which a rank may be ahead of the slowest, and by
     * which its weights may be out of date. Other variants: 0. */
    uint64_t staleness;
    /* [ranks] state of each rank as a client. For the server's own rank, only `pushes` and `pushed`
     * are used, and `pushed` is borrowed: it points into that rank's gradient arena. */
    struct client *clients;

    bool opened;          /* whether server_open has been called since creation or server_reset */
    struct optimizer o;   /* optimizer for this server's part, elements [0, count) */
    real *params, *state; /* parameters [count], optimizer state [slots][count] */
    const real **terms;   /* [ranks] gradients of all ranks, as arguments of local_sum */
    real *sums;           /* [staleness + 1][count] summed gradients of each open step (one that
                             lacks gradients of some ranks); with `at_once`, empty */
    /* [staleness + 1] open steps, numbered version + 1 to version + 1 + staleness. Steps are
     * counted from 1 since server_open. Step k is at index k % (staleness + 1). Not used with
     * `at_once`. */
    struct open_step *steps;
    uint64_t version;  /* number of complete steps; in variant async, number of processed pushes */
    double lr;         /* learning rate of this rank's latest step; used only with `at_once`, where
                          the optimizer runs on each rank's gradients separately */
    uint64_t base;     /* variant async: number of all ranks' pushes in steps before server_open */
    bool untimed;      /* whether server_serve must not add its time to s->times */
    struct pool *pool; /* threads that run the optimizer; NULL while forward and backward use
                          them */
};

/* Computes the range of the arenas that server `index` of `servers` servers holds: *count elements
 * from *begin on. */
void server_range(const struct sync *s, int index, int servers, size_t *begin, size_t *count);

/* Creates a server and posts receives for the first pushes. */
enum status server_create(struct server *v, struct sync *s, MPI_Comm replies, int servers,
                          struct error *e);
/* Destroys a server. Call it when no rank will push any more. */
void server_destroy(struct server *v);

/* In the first step after server_create or server_reset, sets the optimizer, copies parameters and
 * state from the arenas and zeroes all counts. Does nothing in later steps. Call it before
 * server_push. */
void server_open(struct server *v, const struct optimizer *o, uint64_t step);
void server_reset(struct server *v);

/* Processes the push of the server's own rank. That rank must not overwrite the gradient in its
 * arena before the step is over. */
void server_push(struct server *v, uint64_t step, double lr);
/* Returns whether the push of the server's own rank is answered. In variant sync: whether the
 * pushes of all ranks are answered. */
bool server_is_answered(const struct server *v);

/* Processes pushes that have arrived, runs the optimizer if possible and answers ranks that can
 * continue. Returns MPI's error code. */
int server_serve(struct server *v);
