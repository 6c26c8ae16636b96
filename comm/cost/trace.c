#include "comm/cost/trace.h"

/* ---- Formats ---- */

/* Message between `rank` and `peer`. Messages of one sender to one receiver in the same round have
 * different tags. add_s: time that the receiver takes to add the message. */
struct message {
    int rank, peer, tag;
    size_t bytes;
    double add_s;
};

struct trace {
    FILE *out;
    const struct trace_format *format;
    const struct trace_step *step;
    /* Counts for the current rank in a GOAL trace (the format of LogGOPSim). `sent` and `received`:
     * messages waited for so far. Other members: labels of each kind written so far. */
    long works, sends, receives, sent, received, computings;
    double computed_s; /* time (s) up to which the current rank's compute has been written */
};

typedef void message_writer(struct trace *t, const struct message *m);

struct trace_format {
    bool by_rank; /* whether the trace is written rank by rank, not operation by operation */
    void (*begin)(struct trace *t, int rank), (*end)(struct trace *t, int rank);
    /* Writes a rank's compute up to `until_s`, the earliest start of the next operation. NULL: all
     * compute precedes the first operation. */
    void (*compute)(struct trace *t, int rank, double until_s);
    void (*work)(struct trace *t, int rank, double seconds);
    message_writer *send, *receive, *wait_sent, *wait_received;
};

/* ---- SimGrid ---- */

static void simgrid_end(struct trace *t, int rank)
{
    fprintf(t->out, "%d finalize\n", rank);
}

static void simgrid_work(struct trace *t, int rank, double seconds)
{
    fprintf(t->out, "%d compute %.10g\n", rank, seconds * t->step->flop_per_s);
}

static void simgrid_begin(struct trace *t, int rank)
{
    fprintf(t->out, "%d init\n", rank);
    simgrid_work(t, rank, t->step->compute_s);
}

static void simgrid_send(struct trace *t, const struct message *m)
{
    fprintf(t->out, "%d isend %d %d %zu\n", m->rank, m->peer, m->tag, m->bytes);
}

static void simgrid_receive(struct trace *t, const struct message *m)
{
    fprintf(t->out, "%d irecv %d %d %zu\n", m->rank, m->peer, m->tag, m->bytes);
}

static void simgrid_wait_sent(struct trace *t, const struct message *m)
{
    fprintf(t->out, "%d wait %d %d %d\n", m->rank, m->rank, m->peer, m->tag);
}

static void simgrid_wait_received(struct trace *t, const struct message *m)
{
    fprintf(t->out, "%d wait %d %d %d\n", m->rank, m->peer, m->rank, m->tag);
}

static const struct trace_format format_simgrid = {
    .begin = simgrid_begin,
    .end = simgrid_end,
    .work = simgrid_work,
    .send = simgrid_send,
    .receive = simgrid_receive,
    .wait_sent = simgrid_wait_sent,
    .wait_received = simgrid_wait_received,
};

/* ---- GOAL ---- */

/* Writes work of a rank as the next label of the rank's chain. The labels c0, c1 ... of the chain
 * are work and waits, in order of execution. A message starts after the chain's last label so
 * far. */
static void goal_work(struct trace *t, int rank, double seconds)
{
    fprintf(t->out, "c%ld: calc %.0f\n", t->works, 1e9 * seconds);
    if (t->works > 0)
        fprintf(t->out, "c%ld requires c%ld\n", t->works, t->works - 1);
    t->works++;
}

/* Writes the compute up to time `until_s` (labels b0, b1 ...) as work of the rank's second
 * processor, so that additions of gradients do not delay compute. */
static void goal_compute(struct trace *t, int rank, double until_s)
{
    if (until_s <= t->computed_s && t->works > 0)
        return;
    fprintf(t->out, "b%ld: calc %.0f cpu 1\n", t->computings, 1e9 * (until_s - t->computed_s));
    if (t->computings > 0)
        fprintf(t->out, "b%ld requires b%ld\n", t->computings, t->computings - 1);
    t->computed_s = until_s;
    goal_work(t, rank, 0);
    fprintf(t->out, "c%ld requires b%ld\n", t->works - 1, t->computings++);
}

static void goal_begin(struct trace *t, int rank)
{
    t->works = t->sends = t->receives = t->sent = t->received = t->computings = 0;
    t->computed_s = 0;
    if (rank == 0)
        fprintf(t->out, "num_ranks %d\n", t->step->ranks);
    fprintf(t->out, "\nrank %d {\n", rank);
}

static void goal_end(struct trace *t, int rank)
{
    goal_compute(t, rank, t->step->compute_s);
    fputs("}\n", t->out);
}

/* Writes message number n. Its size is at least one byte, since LogGOPSim subtracts one byte. */
static void goal_message(struct trace *t, const struct message *m, const char *verb,
                         const char *side, long n)
{
    fprintf(t->out, "%c%ld: %s %zub %s %d tag %d\n%c%ld requires c%ld\n", *verb, n, verb,
            m->bytes > 0 ? m->bytes : 1, side, m->peer, m->tag, *verb, n, t->works - 1);
}

static void goal_send(struct trace *t, const struct message *m)
{
    goal_message(t, m, "send", "to", t->sends++);
}

static void goal_receive(struct trace *t, const struct message *m)
{
    goal_message(t, m, "recv", "from", t->receives++);
}

static void goal_wait_sent(struct trace *t, const struct message *m)
{
    goal_work(t, m->rank, 0);
    fprintf(t->out, "c%ld requires s%ld\n", t->works - 1, t->sent++);
}

static void goal_wait_received(struct trace *t, const struct message *m)
{
    goal_work(t, m->rank, 0);
    fprintf(t->out, "c%ld requires r%ld\n", t->works - 1, t->received++);
}

static const struct trace_format format_goal = {
    .by_rank = true,
    .begin = goal_begin,
    .end = goal_end,
    .compute = goal_compute,
    .work = goal_work,
    .send = goal_send,
    .receive = goal_receive,
    .wait_sent = goal_wait_sent,
    .wait_received = goal_wait_received,
};

static const struct trace_format *const FORMATS[TRACES] = {
#define TRACE(name, summary) &format_##name,
#include "comm/cost/traces.def"
};

/* ---- Rounds ---- */

/* Returns the tag of transfer k's first message: the number of messages in earlier transfers with
 * the same partner. */
static int tag_of(const struct schedule *s, const struct transfer *transfers, int k)
{
    size_t tag = 0;
    for (int i = 0; i < k; i++)
        tag +=
            transfers[i].rank == transfers[k].rank ? schedule_messages(s, transfers[i].count) : 0;
    return (int)tag;
}

/* Calls `write` for each message of n transfers. A long transfer can consist of several
 * messages. */
static void each_message(struct trace *t, const struct operation *op, const struct schedule *s,
                         const struct transfer *transfers, int n, message_writer *write)
{
    for (int k = 0; k < n; k++) {
        struct message m = {
            .rank = s->rank, .peer = transfers[k].rank, .tag = tag_of(s, transfers, k)};
        size_t left = transfers[k].count;
        for (size_t i = schedule_messages(s, left); i > 0; i--, m.tag++) {
            size_t count = i > 1 ? s->segment : left;
            m.bytes = count * op->width;
            m.add_s = transfers[k].add ? sweep_add_s(t->step->machine, op, count) : 0;
            write(t, &m);
            left -= count;
        }
    }
}

static void wait_and_add(struct trace *t, const struct message *m)
{
    t->format->wait_received(t, m);
    if (m->add_s > 0)
        t->format->work(t, m->rank, m->add_s);
}

static void begin_round(struct trace *t, const struct operation *op, const struct schedule *s,
                        const struct round *r)
{
    each_message(t, op, s, r->receives, r->n_receives, t->format->receive);
    each_message(t, op, s, r->sends, r->n_sends, t->format->send);
}

static void end_round(struct trace *t, const struct operation *op, const struct schedule *s,
                      const struct round *r)
{
    double work_s = sweep_work_s(t->step->machine, op, r);
    each_message(t, op, s, r->receives, r->n_receives, wait_and_add);
    each_message(t, op, s, r->sends, r->n_sends, t->format->wait_sent);
    if (work_s > 0)
        t->format->work(t, s->rank, work_s);
}

/* Writes a rank's part of a dissemination barrier. */
static void meet(struct trace *t, int rank)
{
    int ranks = t->step->ranks;
    for (int away = 1; away < ranks; away *= 2) {
        const struct message in = {.rank = rank, .peer = (rank - away + ranks) % ranks, .bytes = 1};
        const struct message out = {.rank = rank, .peer = (rank + away) % ranks, .bytes = 1};
        t->format->receive(t, &in);
        t->format->send(t, &out);
        t->format->wait_received(t, &in);
        t->format->wait_sent(t, &out);
    }
}

/* ---- Operations and ranks ---- */

enum part { BEGINNING = 1, END = 2 };

/* Writes parts of a rank's round i: BEGINNING (barrier, start of messages), END (waits, additions),
 * or both. */
static void write_round(struct trace *t, const struct operation *op, int rank, int i,
                        unsigned parts)
{
    const struct schedule s = operation_schedule(op, rank, t->step->ranks);
    struct round r;
    schedule_round(&s, i, &r);
    if (r.meets && (parts & BEGINNING))
        meet(t, rank);
    if (parts & BEGINNING)
        begin_round(t, op, &s, &r);
    if (parts & END)
        end_round(t, op, &s, &r);
}

static void write_rounds(struct trace *t, const struct operation *op, int first, int end,
                         unsigned parts)
{
    const struct schedule s = operation_schedule(op, first, t->step->ranks);
    for (int i = 0; i < schedule_rounds(&s); i++)
        for (int rank = first; rank < end; rank++)
            write_round(t, op, rank, i, parts);
}

/* Writes an operation for ranks [first, end). If its rule is `posted`, the messages of all rounds
 * begin before the first wait. */
static void write_operation(struct trace *t, const struct operation *op, int first, int end)
{
    if (op->rule == NULL)
        return;
    for (int rank = first; rank < end && t->format->compute != NULL; rank++)
        t->format->compute(t, rank, t->step->ready_s[op->tensor]);
    if (op->rule->posted)
        write_rounds(t, op, first, end, BEGINNING);
    write_rounds(t, op, first, end, op->rule->posted ? END : BEGINNING | END);
}

static void write_ranks(struct trace *t, int first, int end)
{
    for (int rank = first; rank < end; rank++)
        t->format->begin(t, rank);
    for (size_t i = 0; i < t->step->program->n; i++)
        write_operation(t, &t->step->program->all[i], first, end);
    for (int rank = first; rank < end; rank++)
        t->format->end(t, rank);
}

bool trace_overlaps(enum trace_kind kind)
{
    return FORMATS[kind]->compute != NULL;
}

void trace_write(FILE *out, enum trace_kind kind, const struct trace_step *step)
{
    struct trace t = {.out = out, .format = FORMATS[kind], .step = step};
    int together = t.format->by_rank ? 1 : step->ranks;
    for (int rank = 0; rank < step->ranks; rank += together)
        write_ranks(&t, rank, rank + together);
}
