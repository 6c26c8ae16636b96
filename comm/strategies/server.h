/* A server of the parameter server, which holds a part of the parameters: what other ranks push to
 * it, when its optimizer runs, and when it answers. Nothing here waits: server_serve does what can be
 * done at once, and is called again. Internal to param_server. */
#pragma once

#include "comm/strategy.h"

/* What ranks and servers tell each other. */
#define SERVER_PUSH   "push to the parameter servers"
#define SERVER_ANSWER "answer of a parameter server"

/* A rank that pushes gradients and gets weights, in turns. */
struct client {
    struct message push, reply;
    real *pushed, *answer;    /* [count] */
    uint64_t pushes, answers; /* taken in, and begun to send, since server_open */
    bool arrived;             /* a push is here that was not taken in */
};

/* A step of which gradients are still missing. */
struct open_step {
    int arrived; /* ranks whose gradient is here */
    uint64_t step;
    double lr;
};

struct server {
    struct sync *s;      /* borrowed */
    MPI_Comm replies;    /* pushes have s->comm to themselves; borrowed */
    size_t begin, count; /* of the arenas */
    bool at_once;        /* the optimizer steps on each push by itself (async) */
    bool in_order;       /* sums add ranks 0, 1, 2 ... (sync) */
    /* A rank may be so many steps ahead of the slowest, and its weights so many steps old. */
    uint64_t staleness;
    struct client *clients; /* [ranks]; of this rank itself only `pushes`, and `pushed`, borrowed */

    bool opened;             /* has its optimizer, which comes with the first step */
    struct optimizer o;      /* of this part: numbers [0, count) */
    real *params, *state;    /* [count], [slots][count] */
    const real **terms;      /* [ranks] */
    real *sums;              /* [staleness + 1][count] */
    struct open_step *steps; /* [staleness + 1]: of steps version + 1 and on */
    uint64_t version;        /* steps that are complete, or pushes stepped on */
    double lr;               /* at_once: of this rank's last step */
    uint64_t base;           /* at_once: pushes before the first */
    bool untimed;            /* the caller of server_serve counts the time */
    struct pool *pool;       /* of the optimizer; NULL while the net computes */
};

/* Numbers [*begin, *begin + *count) belong to server `index` of `servers`. */
void server_range(const struct sync *s, int index, int servers, size_t *begin, size_t *count);

/* Starts to receive pushes. */
enum status server_create(struct server *v, struct sync *s, MPI_Comm replies, int servers,
                          struct error *e);
/* When no rank pushes any more. */
void server_destroy(struct server *v);

/* Before this rank's step pushes: the optimizer, and what the arenas hold at the first step since
 * creation or server_reset. */
void server_open(struct server *v, const struct optimizer *o, uint64_t step);
void server_reset(struct server *v);

/* This rank's own push, in its arena of gradients until the step is done. */
void server_push(struct server *v, uint64_t step, double lr);
/* Whether this rank's own push is answered; in order: the pushes of all ranks. */
bool server_is_answered(const struct server *v);

/* Takes in the pushes that have come, steps where it can, answers the ranks that may go on. Returns
 * MPI's code. */
int server_serve(struct server *v);
