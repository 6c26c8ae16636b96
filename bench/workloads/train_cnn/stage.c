#include "bench/workloads/train_cnn/stage.h"

#include <stdlib.h>

#include "bench/workloads/train_cnn/trainer.h"
#include "comm/overlap.h"
#include "kernels/base/clock.h"
#include "kernels/base/mem.h"

static const struct {
    const char *what; /* name of the message in errors, equal at sender and receiver */
    /* is_sent: whether this stage sends the message; otherwise the stage receives the message.
     * is_behind: whether the partner is the next stage; otherwise it is the previous one. */
    bool is_sent, is_behind;
} kinds[STAGE_MESSAGES] = {
    [STAGE_TAKE] = {"activations of a stage", false, false},
    [STAGE_HAND] = {"activations of a stage", true, true},
    [STAGE_TAKE_BACK] = {"gradients of a stage", false, true},
    [STAGE_HAND_BACK] = {"gradients of a stage", true, false},
};

/* Returns the partner stage of a message; -1 if the pipeline has no such stage. */
static int partner_of(const struct stage *s, enum stage_message kind)
{
    int stage = s->job->grid.stage + (kinds[kind].is_behind ? 1 : -1);
    return stage < s->job->grid.stages ? stage : -1;
}

/* Returns the op whose input, or input gradient, the message carries. */
static int op_of(const struct stage *s, enum stage_message kind)
{
    return kinds[kind].is_behind ? s->last : s->first;
}

/* ---- Tensors of the rank ---- */

static void find_tensors(struct trainer *t)
{
    struct stage *s = &t->model.stage;
    s->tensors = (struct range){t->model.desc->n_tensors, 0};
    for (int op = s->first; op < s->last; op++) {
        struct range of = work_net_range(t, op);
        if (of.first == of.last)
            continue;
        s->tensors.first = of.first < s->tensors.first ? of.first : s->tensors.first;
        s->tensors.last = of.last;
    }
}

static enum status hold_tensors(struct trainer *t, struct error *e)
{
    struct stage *s = &t->model.stage;
    struct tensor_desc *tensors;
    find_tensors(t);
    int n = s->tensors.last - s->tensors.first;
    TRY(MEM_NEW(tensors, (size_t)n, "the tensors of a stage", e));
    s->held = *t->model.computed;
    s->held.tensors = tensors;
    s->held.n_tensors = n;
    s->held.n_params = 0;
    for (int i = 0; i < n; i++) {
        tensors[i] = t->model.computed->tensors[s->tensors.first + i];
        tensors[i].offset = s->held.n_params;
        s->held.n_params += tensors[i].count;
    }
    return OK;
}

/* ---- Sets of activations ---- */

static enum pipeline_schedule schedule_of(const struct trainer *t)
{
    return (enum pipeline_schedule)config_int(t->config, OPT_PIPELINE_SCHEDULE);
}

int stage_sets(const struct trainer *t)
{
    return pipeline_kept(schedule_of(t), t->job.grid.stage, t->job.grid.stages,
                         (int)t->batches.accumulate);
}

/* Uses the net's buffers of activations and their gradients as message buffers, without copies. */
static void find_ends(struct trainer *t)
{
    struct stage *s = &t->model.stage;
    for (int i = 0; i < s->n_slots; i++) {
        real **data = s->slots[i].data;
        data[STAGE_TAKE] = net_activations(t->model.net, i, s->first);
        data[STAGE_HAND_BACK] = net_gradients(t->model.net, i, s->first);
        data[STAGE_HAND] = net_activations(t->model.net, i, s->last);
        data[STAGE_TAKE_BACK] = net_gradients(t->model.net, i, s->last);
    }
}

/* Allocates message buffers for replayed compute, since the net's own buffers then hold only one
 * image. */
static enum status make_ends(struct trainer *t, struct error *e)
{
    struct stage *s = &t->model.stage;
    size_t reals[STAGE_MESSAGES], all = 0;
    for (int kind = 0; kind < STAGE_MESSAGES; kind++) {
        reals[kind] = net_activation_reals(t->model.net, op_of(s, (enum stage_message)kind),
                                           (int)t->batches.micro_max);
        all += reals[kind];
    }
    TRY(MEM_NEW_ALIGNED(s->own, all * (size_t)s->n_slots, "activations", e));
    real *at = s->own;
    for (int i = 0; i < s->n_slots; i++)
        for (int kind = 0; kind < STAGE_MESSAGES; at += reals[kind++])
            s->slots[i].data[kind] = at;
    return OK;
}

static enum status make_slots(struct trainer *t, struct error *e)
{
    struct stage *s = &t->model.stage;
    s->n_slots = stage_sets(t);
    TRY(MEM_NEW(s->slots, (size_t)s->n_slots, "the messages of a stage", e));
    for (int i = 0; i < s->n_slots; i++)
        for (int kind = 0; kind < STAGE_MESSAGES; kind++)
            s->slots[i].messages[kind].request = MPI_REQUEST_NULL;
    if (t->job.grid.stages > 1 && t->replayed != NULL)
        return make_ends(t, e);
    find_ends(t);
    return OK;
}

/* Checks that the MPI library can send the largest message of this kind. Called when the stage is
 * opened, so that no later step fails for this reason. */
static enum status check_message(const struct stage *s, enum stage_message kind, struct error *e)
{
    size_t bytes = net_activation_reals(s->net, op_of(s, kind), (int)s->micro_max) * sizeof(real);
    size_t most = s->job->waiter->message_most;
    if (partner_of(s, kind) < 0 || bytes <= most)
        return OK;
    return error_set(e, ERR_ARGUMENT,
                     "%s: a micro-batch has %zu bytes (%u images), but this MPI library sends at "
                     "most %zu bytes per message. Increase train.accumulate",
                     kinds[kind].what, bytes, s->micro_max, most);
}

enum status stage_open(struct trainer *t, struct error *e)
{
    struct stage *s = &t->model.stage;
    s->job = &t->job;
    s->net = t->model.net;
    s->exec = &t->model.exec;
    s->pace = t->replayed != NULL ? &t->replayed->pace : NULL;
    s->micro_max = t->batches.micro_max;
    s->schedule = schedule_of(t);
    if (t->job.grid.stages == 1)
        s->last = work_ops(t);
    TRY(check_message(s, STAGE_HAND_BACK, e));
    TRY(check_message(s, STAGE_HAND, e));
    TRY(hold_tensors(t, e));
    return make_slots(t, e);
}

/* Ends messages that an error has left in transit: waits for sends if `sent`, else cancels
 * receives. */
static void give_up_messages(struct stage *s, bool sent)
{
    for (int i = 0; s->slots != NULL && i < s->n_slots; i++)
        for (int kind = 0; kind < STAGE_MESSAGES; kind++) {
            struct message *m = &s->slots[i].messages[kind];
            if (kinds[kind].is_sent && sent)
                message_let_leave(s->job->waiter, m, kinds[kind].what);
            else if (!kinds[kind].is_sent && !sent)
                message_cancel(s->job->waiter, m);
        }
}

void stage_close(struct stage *s)
{
    give_up_messages(s, true);
    give_up_messages(s, false);
    free(s->held.tensors);
    free(s->slots);
    mem_free(s->own);
    s->held.tensors = NULL;
    s->slots = NULL;
    s->own = NULL;
}

/* ---- The order of a step ---- */

int stage_slot_of(const struct stage *s, int micro)
{
    return micro % s->n_slots;
}

static struct stage_slot *slot_of(struct stage *s, int micro)
{
    return &s->slots[stage_slot_of(s, micro)];
}

/* ---- Messages ---- */

struct batch stage_micro_batch(const struct stage *s, int micro)
{
    static const uint32_t any_sample = 0;
    static const real no_weight = 0;
    struct batch batch = batch_part(&s->batch, (uint32_t)micro, (uint32_t)s->micros);
    if (batch.n == 0 && s->shares_statistics) {
        batch.n = 1;
        batch.samples = &any_sample;
        batch.weights = &no_weight;
    }
    return batch;
}

/* Starts to send or receive a message of a micro-batch. Does nothing if the micro-batch has no
 * images or there is no partner stage. */
static enum status begin(struct stage *s, int micro, enum stage_message kind, struct error *e)
{
    struct stage_slot *slot = slot_of(s, micro);
    struct message *m = &slot->messages[kind];
    const bool is_sent = kinds[kind].is_sent;
    uint32_t n = stage_micro_batch(s, micro).n;
    size_t reals = n > 0 ? net_activation_reals(s->net, op_of(s, kind), (int)n) : 0;
    *m = (struct message){.data = slot->data[kind],
                          .bytes = reals * sizeof(real),
                          .rank = partner_of(s, kind),
                          .request = MPI_REQUEST_NULL};
    if (m->rank < 0 || m->bytes == 0)
        return OK;
    s->messages_sent += is_sent;
    s->bytes_sent += is_sent ? m->bytes : 0;
    int code = (is_sent ? message_begin_send : message_begin_receive)(
        s->job->waiter, m, 1, s->job->grid.pipeline, kinds[kind].what);
    return message_status(s->job->waiter, code, kinds[kind].what, e);
}

/* Starts to receive the activations of micro-batch `micro`. Does nothing in the first stage, if the
 * step has no such micro-batch, or if the micro-batch has no images. Sends from other buffers of
 * the same slot may still be in progress. */
static enum status take(struct stage *s, int micro, struct error *e)
{
    return micro < s->micros ? begin(s, micro, STAGE_TAKE, e) : OK;
}

/* Waits for the slot's messages whose bits are set in `wanted` (1 << enum stage_message). */
static enum status finish(struct stage *s, struct stage_slot *slot, unsigned wanted,
                          const char *what, struct error *e)
{
    int64_t begin_ns = clock_ns();
    enum status status = OK;
    for (int kind = 0; kind < STAGE_MESSAGES; kind++)
        if (wanted & 1u << kind)
            THEN(status, message_wait(s->job->waiter, &slot->messages[kind], what, e));
    int64_t end_ns = clock_ns();
    s->waited_ns += end_ns - begin_ns;
    timeline_add(s->job->waiter->timeline, PHASE_bubble, what, begin_ns, end_ns);
    if (s->pace != NULL)
        pace_drop_overrun(s->pace);
    return status;
}

/* ---- While the rank computes ---- */

static void test(struct stage *s, struct message *m)
{
    bool done; /* not used: message_wait later waits for the message and reports errors */
    if (m->request != MPI_REQUEST_NULL)
        message_test(s->job->waiter, m, &done);
}

/* Tests all messages of the stage with MPI_Test, at most once per OVERLAP_TILE_NS. Always calls the
 * previous exec.poll, if any. Kernels call this function between tiles. */
static void poll(void *arg)
{
    struct stage *s = arg;
    int64_t now_ns = clock_ns();
    for (int i = 0; i < s->n_slots && now_ns >= s->next_poll_ns; i++)
        for (int kind = 0; kind < STAGE_MESSAGES; kind++)
            test(s, &s->slots[i].messages[kind]);
    if (now_ns >= s->next_poll_ns)
        s->next_poll_ns = now_ns + OVERLAP_TILE_NS;
    if (s->poll != NULL)
        s->poll(s->poll_arg);
}

void stage_connect(struct stage *s, struct exec *exec)
{
    if (s->job->grid.stages == 1)
        return;
    s->poll = exec->poll;
    s->poll_arg = exec->poll_arg;
    exec->poll = poll;
    exec->poll_arg = s;
}

/* ---- Passes over a micro-batch ---- */

enum status stage_step_begin(struct stage *s, const struct batch *batch, int micros,
                             struct error *e)
{
    s->batch = *batch;
    s->micros = micros;
    s->waited_ns = 0;
    s->messages_sent = s->bytes_sent = 0;
    for (int micro = 0; micro < s->n_slots; micro++)
        TRY(take(s, micro, e));
    return OK;
}

/* Waits for the input of micro-batch `micro`. Also waits for earlier sends from the micro-batch's
 * slot, because their buffers are reused. */
enum status stage_forward_begin(struct stage *s, int micro, struct error *e)
{
    s->kept += s->exec->training;
    s->kept_most = s->kept > s->kept_most ? s->kept : s->kept_most;
    if (s->job->grid.stages == 1)
        return OK;
    return finish(s, slot_of(s, micro), 1u << STAGE_TAKE | 1u << STAGE_HAND | 1u << STAGE_HAND_BACK,
                  kinds[STAGE_TAKE].what, e);
}

enum status stage_forward_end(struct stage *s, int micro, struct error *e)
{
    TRY(begin(s, micro, STAGE_HAND, e));
    return s->exec->training ? begin(s, micro, STAGE_TAKE_BACK, e) : OK;
}

enum status stage_backward_begin(struct stage *s, int micro, struct error *e)
{
    if (partner_of(s, STAGE_TAKE_BACK) < 0)
        return OK;
    return finish(s, slot_of(s, micro), 1u << STAGE_TAKE_BACK, kinds[STAGE_TAKE_BACK].what, e);
}

enum status stage_backward_end(struct stage *s, int micro, struct error *e)
{
    s->kept--;
    TRY(begin(s, micro, STAGE_HAND_BACK, e));
    return take(s, micro + s->n_slots, e);
}

enum status stage_step_end(struct stage *s, struct error *e)
{
    for (int i = 0; i < s->n_slots && s->job->grid.stages > 1; i++)
        TRY(finish(s, &s->slots[i], 1u << STAGE_HAND | 1u << STAGE_HAND_BACK,
                   kinds[STAGE_HAND].what, e));
    return OK;
}
