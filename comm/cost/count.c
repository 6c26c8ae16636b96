#include "comm/cost/program.h"

/* Adds calls and payload of a message that a rank sends or receives itself. */
static void count_calls(struct cost *c, const struct schedule *s, size_t count, size_t width)
{
    c->calls += schedule_messages(s, count);
    c->bytes_payload += count * width;
}

/* Messages both ways at the same time, of which the slower way counts, then additions and copies. */
static double round_s(const struct schedule *s, const struct round *r, size_t width,
                      const struct link_model *m)
{
    double sent = 0, received = 0, bytes = (double)width;
    double added = (double)r->added;
    for (int k = 0; k < r->n_sends; k++)
        sent += (double)schedule_messages(s, r->sends[k].count) * m->alpha_s +
                (double)r->sends[k].count * bytes * m->beta_s;
    for (int k = 0; k < r->n_receives; k++) {
        received += (double)schedule_messages(s, r->receives[k].count) * m->alpha_s +
                    (double)r->receives[k].count * bytes * m->beta_s;
        added += r->receives[k].add ? (double)r->receives[k].count : 0;
    }
    return (sent > received ? sent : received) + (r->meets ? m->alpha_s : 0) +
           bytes * (added * (s->rule->passes > 0 ? s->rule->passes : 1) * m->gamma_s +
                    (double)r->copied * m->beta_s);
}

static void count_round(const struct counter *counter, const struct schedule *s,
                        const struct operation *op, int i)
{
    struct cost *c = counter->cost;
    struct round r;
    schedule_round(s, i, &r);
    if (counter->model != NULL)
        c->seconds += round_s(s, &r, op->width, counter->model);
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
        count_round(counter, &s, op, i);
}

struct counter counter_of(struct cost *cost, int rank, int ranks, const struct link_model *model)
{
    return (struct counter){
        .reader = {count}, .cost = cost, .rank = rank, .ranks = ranks, .model = model};
}
