#include "comm/clocks.h"

#include <math.h>
#include <stdlib.h>

#include "comm/nodes.h"
#include "kernels/base/mem.h"

#define OPERATION "clock synchronisation"

/* Limits of the number of round trips in a round. If there are more ranks than cores, round trips
 * are slow. The round then ends after ROUND_NS, but not before PINGS_LEAST round trips. */
enum { PINGS_MOST = 200, PINGS_LEAST = 20 };
#define ROUND_NS 200000000

struct question {
    int64_t is_last;
};

struct answer {
    int64_t now_ns;
    struct clock_offset offset; /* clock offset of the answering node from rank 0 */
};

/* State of a node's first rank. Node 0 only answers clock queries. Other nodes query in one round
 * and may answer in later rounds. */
struct rounds {
    struct waiter *waiter;
    MPI_Comm comm;
    int64_t (*now_ns)(void);
    int *firsts, nodes, node; /* first rank of each node, count of nodes, index of this node */
    int known;                /* nodes 0 to known - 1 know their offset */
    /* `begun`: this round has begun. `noted`: the partner's message has arrived and was handled. */
    bool begun, noted;
    int64_t begin_ns;
    struct message out, in;
    struct question question;
    struct answer answer;
    struct ping pings[PINGS_MOST];
    size_t n_pings;
    struct clock_offset offset;
    int code; /* first MPI error code; MPI_SUCCESS: no error */
};

/* ---- Messages ---- */

static struct message message_of(void *data, size_t bytes, int rank)
{
    return (struct message){.data = data, .bytes = bytes, .rank = rank};
}

static void begin_receive(struct rounds *r, void *data, size_t bytes, int rank)
{
    r->in = message_of(data, bytes, rank);
    if (r->code == MPI_SUCCESS)
        r->code = message_begin_receive(r->waiter, &r->in, 1, r->comm, OPERATION);
}

static void begin_send(struct rounds *r, void *data, size_t bytes, int rank)
{
    r->out = message_of(data, bytes, rank);
    if (r->code == MPI_SUCCESS)
        r->code = message_begin_send(r->waiter, &r->out, 1, r->comm, OPERATION);
}

static bool is_through(struct rounds *r, struct message *message)
{
    bool done = false;
    if (r->code == MPI_SUCCESS)
        r->code = message_test(r->waiter, message, &done);
    return done;
}

/* ---- The two sides ---- */

static void ask(struct rounds *r, int rank)
{
    struct ping *ping = &r->pings[r->n_pings];
    int64_t now_ns = r->now_ns();
    if (r->n_pings == 0)
        r->begin_ns = now_ns;
    bool is_late = now_ns - r->begin_ns > ROUND_NS && r->n_pings + 1 >= PINGS_LEAST;
    r->question.is_last = is_late || r->n_pings + 1 == PINGS_MOST;
    r->noted = false;
    begin_receive(r, &r->answer, sizeof r->answer, rank);
    ping->sent_ns = r->now_ns();
    begin_send(r, &r->question, sizeof r->question, rank);
}

/* If the answer of `rank` (on another node) has arrived, records it and asks again. After the last
 * answer, sets r->offset to this node's clock offset from rank 0, and returns true. */
static bool take_answer(struct rounds *r, int rank)
{
    struct ping *ping = &r->pings[r->n_pings];
    if (!r->noted && is_through(r, &r->in)) {
        ping->received_ns = r->now_ns();
        ping->theirs_ns = r->answer.now_ns;
        r->noted = true;
    }
    if (!r->noted || !is_through(r, &r->out))
        return false;
    r->n_pings++;
    if (!r->question.is_last) {
        ask(r, rank);
        return false;
    }
    struct clock_offset found = clock_offset_find(r->pings, r->n_pings);
    bool asked_first = r->node == r->known;
    r->offset = asked_first ? found : clock_offset_chain(&found, &r->answer.offset);
    return true;
}

static void await_question(struct rounds *r, int rank)
{
    r->noted = false;
    begin_receive(r, &r->question, sizeof r->question, rank);
}

static bool give_answer(struct rounds *r, int rank)
{
    if (!r->noted && is_through(r, &r->in)) {
        r->answer = (struct answer){r->now_ns(), r->offset};
        begin_send(r, &r->answer, sizeof r->answer, rank);
        r->noted = true;
    }
    if (!r->noted || !is_through(r, &r->out))
        return false;
    if (r->question.is_last)
        return true;
    await_question(r, rank); /* overwrites r->question, so is_last is read above */
    return false;
}

/* ---- Rounds ---- */

/* Advances the current round as far as possible without waiting. In a round, this rank asks a rank
 * of another node for the time of its clock, answers such questions, or does nothing. Returns
 * whether this rank is done with the round. */
static bool pass_round(struct rounds *r)
{
    bool asks = r->node >= r->known && r->node < 2 * r->known;
    bool answers = r->node < r->known && r->node + r->known < r->nodes;
    if (!asks && !answers)
        return true;
    int rank = r->firsts[asks ? r->node - r->known : r->node + r->known];
    if (!r->begun)
        (asks ? ask : await_question)(r, rank);
    r->begun = true;
    return (asks ? take_answer : give_answer)(r, rank);
}

/* Proceeds through the rounds without waiting. Returns whether all rounds are over or MPI
 * failed. */
static bool pass_rounds(void *arg)
{
    struct rounds *r = arg;
    while (r->known < r->nodes && pass_round(r)) {
        r->begun = false;
        r->known *= 2;
    }
    return r->known >= r->nodes || r->code != MPI_SUCCESS;
}

static enum status pass(struct rounds *r, struct error *e)
{
    enum status status = wait_until(r->waiter, pass_rounds, r, OPERATION, e);
    THEN(status, message_status(r->waiter, r->code, OPERATION, e));
    return status;
}

/* Sets r->nodes to the number of nodes and r->firsts [nodes] to their first ranks. If this rank
 * (`rank`) is the first of its node, sets r->node to the node's index, otherwise to -1. r->firsts
 * must have memory for 2 * ranks numbers; the rest is scratch. */
static enum status find_firsts(struct rounds *r, int rank, int ranks, struct error *e)
{
    int *node_of = r->firsts + ranks;
    TRY(nodes_find(r->waiter, r->comm, node_of, e));
    r->node = -1;
    for (int i = 0; i < ranks; i++)
        if (node_of[i] == r->nodes) {
            r->node = i == rank ? r->nodes : r->node;
            r->firsts[r->nodes++] = i;
        }
    return OK;
}

static enum status find_offset(struct rounds *r, int rank, int ranks, struct error *e)
{
    TRY(find_firsts(r, rank, ranks, e));
    if (r->node != 0)
        r->offset.offset_ns = r->offset.error_ns = NAN;
    if (r->node < 0)
        r->nodes = 0;
    TRY(pass(r, e));
    return wait_barrier(r->waiter, r->comm, "barrier after clock synchronisation", e);
}

enum status clocks_find(struct clock_offset *offset, int *first_rank, struct waiter *w,
                        MPI_Comm comm, int64_t (*now_ns)(void), struct error *e)
{
    int rank, ranks, here;
    struct rounds r = {.waiter = w,
                       .comm = comm,
                       .now_ns = now_ns,
                       .known = 1,
                       .code = MPI_SUCCESS,
                       .offset.at_ns = now_ns()};
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &ranks);
    nodes_here(w, comm, &here, first_rank);
    *offset = r.offset;
    if (here == ranks)
        return OK;
    TRY(MEM_NEW(r.firsts, 2 * (size_t)ranks, "the first ranks of nodes", e));
    enum status status = find_offset(&r, rank, ranks, e);
    free(r.firsts);
    *offset = r.offset;
    return status;
}
