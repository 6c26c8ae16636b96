#include "comm/cost/program.h"

/* Adds the calls and payload of a send or receive outside the MPI library's collectives: one MPI
 * call per message. */
static void count_calls(struct cost *c, const struct schedule *s, size_t count, size_t width)
{
    c->calls += schedule_messages(s, count);
    c->bytes_payload += count * width;
}

static void count_round(struct cost *c, const struct schedule *s, const struct operation *op, int i)
{
    struct round r;
    schedule_round(s, i, &r);
    for (int k = 0; k < r.n_sends; k++) {
        c->messages_wire += schedule_messages(s, r.sends[k].count);
        c->bytes_wire += r.sends[k].count * op->width;
        if (!op->is_call)
            count_calls(c, s, r.sends[k].count, op->width);
    }
    for (int k = 0; k < r.n_receives && !op->is_call; k++)
        count_calls(c, s, r.receives[k].count, op->width);
}

static void count(struct reader *reader, const struct operation *op)
{
    const struct counter *counter = (const struct counter *)reader;
    struct cost *c = counter->cost;
    c->algorithms |= op->algorithm;
    if (op->is_call) {
        c->calls++;
        c->bytes_payload += op->count * op->width;
    }
    if (op->rule == NULL)
        return;
    const struct schedule s = operation_schedule(op, counter->rank, counter->ranks);
    for (int i = 0; i < schedule_rounds(&s); i++)
        count_round(c, &s, op, i);
}

struct counter counter_of(struct cost *cost, int rank, int ranks)
{
    return (struct counter){.reader = {count}, .cost = cost, .rank = rank, .ranks = ranks};
}
