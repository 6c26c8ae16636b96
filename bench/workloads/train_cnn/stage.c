#include "bench/workloads/train_cnn/stage.h"

#include <stdlib.h>
#include <string.h>

#include "bench/workloads/train_cnn/trainer.h"
#include "comm/overlap.h"
#include "kernels/base/clock.h"
#include "kernels/base/mem.h"

/* What messages are called, by sender and receiver alike. */
static const char activations[] = "activations of a stage", gradients[] = "gradients of a stage";

static bool has_before(const struct trainer *t)
{
    return t->grid.stage > 0;
}

static bool has_behind(const struct trainer *t)
{
    return t->grid.stage + 1 < t->grid.stages;
}

/* ---- What the rank holds ---- */

static void find_tensors(struct trainer *t)
{
    struct stage *s = &t->stage;
    s->tensors = (struct range){t->desc->n_tensors, 0};
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
    struct stage *s = &t->stage;
    struct tensor_desc *tensors;
    find_tensors(t);
    int n = s->tensors.last - s->tensors.first;
    TRY(MEM_NEW(tensors, (size_t)n, "the tensors of a stage", e));
    s->held = *t->computed;
    s->held.tensors = tensors;
    s->held.n_tensors = n;
    s->held.n_params = 0;
    for (int i = 0; i < n; i++) {
        tensors[i] = t->computed->tensors[s->tensors.first + i];
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
    return pipeline_kept(schedule_of(t), t->grid.stage, t->grid.stages, (int)t->accumulate);
}

/* In the net. */
static void find_ends(struct trainer *t)
{
    struct stage *s = &t->stage;
    for (int i = 0; i < s->n_slots; i++) {
        s->slots[i].in = net_activations(t->net, i, s->first);
        s->slots[i].in_gradient = net_gradients(t->net, i, s->first);
        s->slots[i].out = net_activations(t->net, i, s->last);
        s->slots[i].out_gradient = net_gradients(t->net, i, s->last);
    }
}

/* Outside of it, as large: of the input and of the output, each with its gradient. */
static enum status make_ends(struct trainer *t, struct error *e)
{
    struct stage *s = &t->stage;
    size_t in = net_activation_reals(t->net, s->first, (int)t->micro_max);
    size_t out = net_activation_reals(t->net, s->last, (int)t->micro_max);
    TRY(MEM_NEW_ALIGNED(s->own, 2 * (in + out) * (size_t)s->n_slots, "activations", e));
    real *at = s->own;
    for (int i = 0; i < s->n_slots; i++, at += 2 * (in + out)) {
        s->slots[i].in = at;
        s->slots[i].in_gradient = at + in;
        s->slots[i].out = at + 2 * in;
        s->slots[i].out_gradient = at + 2 * in + out;
    }
    return OK;
}

static enum status make_slots(struct trainer *t, struct error *e)
{
    struct stage *s = &t->stage;
    s->n_slots = stage_sets(t);
    TRY(MEM_NEW(s->slots, (size_t)s->n_slots, "the messages of a stage", e));
    for (int i = 0; i < s->n_slots; i++) {
        struct stage_slot *slot = &s->slots[i];
        slot->take.request = slot->hand.request = MPI_REQUEST_NULL;
        slot->take_back.request = slot->hand_back.request = MPI_REQUEST_NULL;
    }
    if (t->grid.stages > 1 && t->replayed != NULL)
        return make_ends(t, e);
    find_ends(t);
    return OK;
}

/* What goes between op `op` and the one before it, of the largest micro-batch: in the middle of a step it would be too
 * late. */
static enum status check_message(const struct trainer *t, int op, const char *what, struct error *e)
{
    size_t bytes = net_activation_reals(t->net, op, (int)t->micro_max) * sizeof(real);
    size_t most = t->waiter->message_most;
    if (bytes <= most)
        return OK;
    return error_set(e, ERR_ARGUMENT,
                     "%s: %zu bytes of a micro-batch of %u images, where this MPI library takes "
                     "messages of at most %zu bytes: a larger train.accumulate makes them smaller",
                     what, bytes, t->micro_max, most);
}

static enum status check_messages(const struct trainer *t, struct error *e)
{
    if (has_before(t))
        TRY(check_message(t, t->stage.first, gradients, e));
    return has_behind(t) ? check_message(t, t->stage.last, activations, e) : OK;
}

enum status stage_open(struct trainer *t, struct error *e)
{
    struct stage *s = &t->stage;
    s->schedule = schedule_of(t);
    if (t->grid.stages == 1)
        s->last = work_ops(t);
    TRY(check_messages(t, e));
    TRY(hold_tensors(t, e));
    return make_slots(t, e);
}

/* What an error has left on its way. */
static void give_up_messages(struct trainer *t)
{
    struct stage *s = &t->stage;
    for (int i = 0; s->slots != NULL && i < s->n_slots; i++) {
        message_let_leave(t->waiter, &s->slots[i].hand, activations);
        message_let_leave(t->waiter, &s->slots[i].hand_back, gradients);
    }
    for (int i = 0; s->slots != NULL && i < s->n_slots; i++) {
        message_cancel(t->waiter, &s->slots[i].take);
        message_cancel(t->waiter, &s->slots[i].take_back);
    }
}

void stage_close(struct trainer *t)
{
    give_up_messages(t);
    free(t->stage.held.tensors);
    free(t->stage.slots);
    mem_free(t->stage.own);
    t->stage.held.tensors = NULL;
    t->stage.slots = NULL;
    t->stage.own = NULL;
}

/* ---- The order of a step ---- */

struct pipeline_task stage_task(const struct trainer *t, int i)
{
    const struct stage *s = &t->stage;
    return pipeline_task(s->schedule, t->grid.stage, t->grid.stages, s->micros, i);
}

int stage_slot_of(const struct stage *s, int micro)
{
    return micro % s->n_slots;
}

static struct stage_slot *slot_of(struct trainer *t, int micro)
{
    return &t->stage.slots[stage_slot_of(&t->stage, micro)];
}

/* ---- Messages ---- */

struct batch stage_micro_batch(const struct trainer *t, int micro)
{
    static const uint32_t any_sample = 0;
    static const real no_weight = 0;
    struct batch batch = batch_part(&t->stage.batch, (uint32_t)micro, (uint32_t)t->stage.micros);
    if (batch.n == 0 && t->group.open) {
        batch.n = 1;
        batch.samples = &any_sample;
        batch.weights = &no_weight;
    }
    return batch;
}

/* A message between op `op` and the one before it, of a micro-batch; without images there is none. */
static struct message message_of(const struct trainer *t, int micro, int op, int stage, real *data)
{
    uint32_t n = stage_micro_batch(t, micro).n;
    size_t reals = n > 0 ? net_activation_reals(t->net, op, (int)n) : 0;
    return (struct message){
        .data = data, .bytes = reals * sizeof(real), .rank = stage, .request = MPI_REQUEST_NULL};
}

static enum status begin_receive(struct trainer *t, struct message *m, const char *what,
                                 struct error *e)
{
    if (m->bytes == 0)
        return OK;
    int code = message_begin_receive(t->waiter, m, 1, t->grid.pipeline, what);
    return message_status(t->waiter, code, what, e);
}

static enum status begin_send(struct trainer *t, struct message *m, const char *what,
                              struct error *e)
{
    if (m->bytes == 0)
        return OK;
    t->stage.messages_sent++;
    t->stage.bytes_sent += m->bytes;
    int code = message_begin_send(t->waiter, m, 1, t->grid.pipeline, what);
    return message_status(t->waiter, code, what, e);
}

/* The set is free for the activations of a micro-batch; what it has sent may still be on its way. */
static enum status take(struct trainer *t, int micro, struct error *e)
{
    struct stage_slot *slot = slot_of(t, micro);
    if (!has_before(t) || micro >= t->stage.micros)
        return OK;
    slot->take = message_of(t, micro, t->stage.first, t->grid.stage - 1, slot->in);
    return begin_receive(t, &slot->take, activations, e);
}

/* What was begun and has not come, or left. */
static enum status finish(struct trainer *t, struct message *const *messages, int n,
                          const char *what, struct error *e)
{
    int64_t begin_ns = clock_ns();
    enum status status = OK;
    for (int i = 0; i < n && status == OK; i++)
        status = message_wait(t->waiter, messages[i], what, e);
    int64_t end_ns = clock_ns();
    t->stage.waited_ns += end_ns - begin_ns;
    timeline_add(t->waiter->timeline, PHASE_bubble, what, begin_ns, end_ns);
    work_met(t);
    return status;
}

/* ---- While the rank computes ---- */

static void test(struct trainer *t, struct message *m)
{
    bool done; /* and what goes wrong shows when the message is waited for */
    if (m->request != MPI_REQUEST_NULL)
        message_test(t->waiter, m, &done);
}

/* At tiles of kernels, as overlap_tile. */
static void poll(void *arg)
{
    struct trainer *t = arg;
    struct stage *s = &t->stage;
    int64_t now_ns = clock_ns();
    for (int i = 0; i < s->n_slots && now_ns >= s->next_poll_ns; i++) {
        struct stage_slot *slot = &s->slots[i];
        test(t, &slot->take);
        test(t, &slot->hand);
        test(t, &slot->take_back);
        test(t, &slot->hand_back);
    }
    if (now_ns >= s->next_poll_ns)
        s->next_poll_ns = now_ns + OVERLAP_TILE_NS;
    if (s->poll != NULL)
        s->poll(s->poll_arg);
}

void stage_connect(struct trainer *t)
{
    if (t->grid.stages == 1)
        return;
    t->stage.poll = t->exec.poll;
    t->stage.poll_arg = t->exec.poll_arg;
    t->exec.poll = poll;
    t->exec.poll_arg = t;
}

/* ---- Around what is computed ---- */

enum status stage_step_begin(struct trainer *t, const struct batch *batch, int micros,
                             struct error *e)
{
    struct stage *s = &t->stage;
    s->batch = *batch;
    s->micros = micros;
    s->waited_ns = 0;
    s->messages_sent = s->bytes_sent = 0;
    for (int micro = 0; micro < s->n_slots; micro++)
        TRY(take(t, micro, e));
    return OK;
}

/* Also until the set's last outputs have left, which are about to be written anew. */
enum status stage_forward_begin(struct trainer *t, int micro, struct error *e)
{
    struct stage *s = &t->stage;
    struct stage_slot *slot = slot_of(t, micro);
    s->kept += t->exec.training;
    s->kept_most = s->kept > s->kept_most ? s->kept : s->kept_most;
    if (t->grid.stages == 1)
        return OK;
    struct message *const messages[] = {&slot->take, &slot->hand, &slot->hand_back};
    return finish(t, messages, 3, activations, e);
}

enum status stage_forward_end(struct trainer *t, int micro, struct error *e)
{
    struct stage *s = &t->stage;
    struct stage_slot *slot = slot_of(t, micro);
    if (!has_behind(t))
        return OK;
    slot->hand = message_of(t, micro, s->last, t->grid.stage + 1, slot->out);
    TRY(begin_send(t, &slot->hand, activations, e));
    if (!t->exec.training)
        return OK;
    slot->take_back = message_of(t, micro, s->last, t->grid.stage + 1, slot->out_gradient);
    return begin_receive(t, &slot->take_back, gradients, e);
}

enum status stage_backward_begin(struct trainer *t, int micro, struct error *e)
{
    struct message *const messages[] = {&slot_of(t, micro)->take_back};
    return has_behind(t) ? finish(t, messages, 1, gradients, e) : OK;
}

enum status stage_backward_end(struct trainer *t, int micro, struct error *e)
{
    struct stage *s = &t->stage;
    struct stage_slot *slot = slot_of(t, micro);
    s->kept--;
    if (!has_before(t))
        return OK;
    slot->hand_back = message_of(t, micro, s->first, t->grid.stage - 1, slot->in_gradient);
    TRY(begin_send(t, &slot->hand_back, gradients, e));
    return take(t, micro + s->n_slots, e);
}

enum status stage_step_end(struct trainer *t, struct error *e)
{
    for (int i = 0; i < t->stage.n_slots && t->grid.stages > 1; i++) {
        struct stage_slot *slot = &t->stage.slots[i];
        struct message *const messages[] = {&slot->hand, &slot->hand_back};
        TRY(finish(t, messages, 2, activations, e));
    }
    return OK;
}
