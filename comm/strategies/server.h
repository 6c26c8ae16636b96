/* The part of the parameters that a server keeps: what the other ranks push to it, when its
 * optimizer runs, and when they are answered. Nothing here waits: server_serve does what can be done
 * at once, and is called again. Internal to param_server. */
#ifndef SCALEBENCH_COMM_STRATEGIES_SERVER_H
#define SCALEBENCH_COMM_STRATEGIES_SERVER_H

#include "comm/strategy.h"

/* What ranks and servers tell each other. */
#define SERVER_PUSH   "push to the parameter servers"
#define SERVER_ANSWER "answer of a parameter server"

/* Another rank, which pushes gradients and gets weights, one after the other. */
struct client {
    struct message push, reply;
    real *pushed, *answer;    /* [count] */
    uint64_t pushes, answers; /* taken in, and begun to send, since server_open */
    bool arrived;             /* a push is there that was not taken in */
};

/* A step whose gradients are not all there. */
struct clock {
    int arrived; /* ranks */
    uint64_t step;
    double lr;
};

struct server {
    struct sync *s;      /* borrowed */
    MPI_Comm replies;    /* pushes have s->comm to themselves; borrowed */
    size_t begin, count; /* of the arenas */
    bool at_once;        /* each push is stepped on by itself (async) */
    bool in_order;       /* sums are those of ranks 0, 1, 2 ... (sync) */
    uint64_t
        staleness; /* a rank may be so many steps ahead of the slowest, and its weights so old */
    struct client *clients; /* [ranks]; the server's own: `pushes` alone, `pushed` borrowed */

    bool opened;          /* has its optimizer, which comes with the first step */
    struct optimizer o;   /* of the shard: numbers [0, count) */
    real *params, *state; /* [count], [slots][count] */
    const real **terms;   /* [ranks] */
    real *sums;           /* [staleness + 1][count] */
    struct clock *clocks; /* [staleness + 1]: of steps version + 1 and on */
    uint64_t version;     /* steps that are complete, or pushes stepped on */
    double lr;            /* at_once: of this rank's last step */
    uint64_t base;        /* at_once: pushes before the first */
    bool untimed;         /* who serves counts the time */
    struct pool *pool;    /* of the optimizer; NULL while the net computes */
};

/* Numbers [*begin, *begin + *count) are those of server `server` of `servers`. */
void server_range(const struct sync *s, int server, int servers, size_t *begin, size_t *count);

/* Starts to receive pushes. */
enum status server_create(struct server *h, struct sync *s, MPI_Comm replies, int servers,
                          struct error *e);
/* Collective in that nobody pushes any more. */
void server_destroy(struct server *h);

/* Before this rank's step pushes: the optimizer, and what the arenas hold at the first step since
 * creation or server_reset. */
void server_open(struct server *h, const struct optimizer *o, uint64_t step);
void server_reset(struct server *h);

/* This rank's own push, in its arena of gradients until the step is done. */
void server_push(struct server *h, uint64_t step, double lr);
/* Whether this rank's own push is answered; in order: everyone's. */
bool server_is_answered(const struct server *h);

/* Takes in what has come, steps where it can, answers whom it may. Returns MPI's code. */
int server_serve(struct server *h);

#endif
