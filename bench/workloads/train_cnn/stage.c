#include "bench/workloads/train_cnn/stage.h"

#include <stdlib.h>

#include "bench/workloads/train_cnn/trainer.h"
#include "comm/overlap.h"
#include "kernels/base/clock.h"
#include "kernels/base/mem.h"

/* What messages are called, by sender and receiver alike. */
static const char activations[] = "activations of a stage", gradients[] = "gradients of a stage";

static bool has_before(const struct stage *s)
{
    return s->job->grid.stage > 0;
}

static bool has_behind(const struct stage *s)
{
    return s->job->grid.stage + 1 < s->job->grid.stages;
}

/* ---- What the rank holds ---- */

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

/* In the net. */
static void find_ends(struct trainer *t)
{
    struct stage *s = &t->model.stage;
    for (int i = 0; i < s->n_slots; i++) {
        s->slots[i].in = net_activations(t->model.net, i, s->first);
        s->slots[i].in_gradient = net_gradients(t->model.net, i, s->first);
        s->slots[i].out = net_activations(t->model.net, i, s->last);
        s->slots[i].out_gradient = net_gradients(t->model.net, i, s->last);
    }
}

/* Outside of it, as large: of the input and of the output, each with its gradient. */
static enum status make_ends(struct trainer *t, struct error *e)
{
    struct stage *s = &t->model.stage;
    size_t in = net_activation_reals(t->model.net, s->first, (int)t->batches.micro_max);
    size_t out = net_activation_reals(t->model.net, s->last, (int)t->batches.micro_max);
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
    struct stage *s = &t->model.stage;
    s->n_slots = stage_sets(t);
    TRY(MEM_NEW(s->slots, (size_t)s->n_slots, "the messages of a stage", e));
    for (int i = 0; i < s->n_slots; i++) {
        struct stage_slot *slot = &s->slots[i];
        slot->take.request = slot->hand.request = MPI_REQUEST_NULL;
        slot->take_back.request = slot->hand_back.request = MPI_REQUEST_NULL;
    }
    if (t->job.grid.stages > 1 && t->replayed != NULL)
        return make_ends(t, e);
    find_ends(t);
    return OK;
}

/* What goes between op `op` and the one before it, of the largest micro-batch: in the middle of a step it would be too
 * late. */
static enum status check_message(const struct stage *s, int op, const char *what, struct error *e)
{
    size_t bytes = net_activation_reals(s->net, op, (int)s->micro_max) * sizeof(real);
    size_t most = s->job->waiter->message_most;
    if (bytes <= most)
        return OK;
    return error_set(e, ERR_ARGUMENT,
                     "%s: %zu bytes of a micro-batch of %u images, where this MPI library takes "
                     "messages of at most %zu bytes: a larger train.accumulate makes them smaller",
                     what, bytes, s->micro_max, most);
}

static enum status check_messages(const struct stage *s, struct error *e)
{
    if (has_before(s))
        TRY(check_message(s, s->first, gradients, e));
    return has_behind(s) ? check_message(s, s->last, activations, e) : OK;
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
    TRY(check_messages(s, e));
    TRY(hold_tensors(t, e));
    return make_slots(t, e);
}

/* What an error has left on its way. */
static void give_up_messages(struct stage *s)
{
    for (int i = 0; s->slots != NULL && i < s->n_slots; i++) {
        message_let_leave(s->job->waiter, &s->slots[i].hand, activations);
        message_let_leave(s->job->waiter, &s->slots[i].hand_back, gradients);
    }
    for (int i = 0; s->slots != NULL && i < s->n_slots; i++) {
        message_cancel(s->job->waiter, &s->slots[i].take);
        message_cancel(s->job->waiter, &s->slots[i].take_back);
    }
}

void stage_close(struct stage *s)
{
    give_up_messages(s);
    free(s->held.tensors);
    free(s->slots);
    mem_free(s->own);
    s->held.tensors = NULL;
    s->slots = NULL;
    s->own = NULL;
}

/* ---- The order of a step ---- */

struct pipeline_task stage_task(const struct stage *s, int i)
{
    return pipeline_task(s->schedule, s->job->grid.stage, s->job->grid.stages, s->micros, i);
}

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

/* A message between op `op` and the one before it, of a micro-batch; without images there is none. */
static struct message message_of(const struct stage *s, int micro, int op, int stage, real *data)
{
    uint32_t n = stage_micro_batch(s, micro).n;
    size_t reals = n > 0 ? net_activation_reals(s->net, op, (int)n) : 0;
    return (struct message){
        .data = data, .bytes = reals * sizeof(real), .rank = stage, .request = MPI_REQUEST_NULL};
}

static enum status begin_receive(struct stage *s, struct message *m, const char *what,
                                 struct error *e)
{
    if (m->bytes == 0)
        return OK;
    int code = message_begin_receive(s->job->waiter, m, 1, s->job->grid.pipeline, what);
    return message_status(s->job->waiter, code, what, e);
}

static enum status begin_send(struct stage *s, struct message *m, const char *what, struct error *e)
{
    if (m->bytes == 0)
        return OK;
    s->messages_sent++;
    s->bytes_sent += m->bytes;
    int code = message_begin_send(s->job->waiter, m, 1, s->job->grid.pipeline, what);
    return message_status(s->job->waiter, code, what, e);
}

/* The set is free for the activations of a micro-batch; what it has sent may still be on its way. */
static enum status take(struct stage *s, int micro, struct error *e)
{
    struct stage_slot *slot = slot_of(s, micro);
    if (!has_before(s) || micro >= s->micros)
        return OK;
    slot->take = message_of(s, micro, s->first, s->job->grid.stage - 1, slot->in);
    return begin_receive(s, &slot->take, activations, e);
}

/* What was begun and has not come, or left. */
static enum status finish(struct stage *s, struct message *const *messages, int n, const char *what,
                          struct error *e)
{
    int64_t begin_ns = clock_ns();
    enum status status = OK;
    for (int i = 0; i < n && status == OK; i++)
        status = message_wait(s->job->waiter, messages[i], what, e);
    int64_t end_ns = clock_ns();
    s->waited_ns += end_ns - begin_ns;
    timeline_add(s->job->waiter->timeline, PHASE_bubble, what, begin_ns, end_ns);
    if (s->pace != NULL)
        pace_meet(s->pace);
    return status;
}

/* ---- While the rank computes ---- */

static void test(struct stage *s, struct message *m)
{
    bool done; /* and what goes wrong shows when the message is waited for */
    if (m->request != MPI_REQUEST_NULL)
        message_test(s->job->waiter, m, &done);
}

/* At tiles of kernels, as overlap_tile. */
static void poll(void *arg)
{
    struct stage *s = arg;
    int64_t now_ns = clock_ns();
    for (int i = 0; i < s->n_slots && now_ns >= s->next_poll_ns; i++) {
        struct stage_slot *slot = &s->slots[i];
        test(s, &slot->take);
        test(s, &slot->hand);
        test(s, &slot->take_back);
        test(s, &slot->hand_back);
    }
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

/* ---- Around what is computed ---- */

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

/* Also until the set's last outputs have left, which are about to be written anew. */
enum status stage_forward_begin(struct stage *s, int micro, struct error *e)
{
    struct stage_slot *slot = slot_of(s, micro);
    s->kept += s->exec->training;
    s->kept_most = s->kept > s->kept_most ? s->kept : s->kept_most;
    if (s->job->grid.stages == 1)
        return OK;
    struct message *const messages[] = {&slot->take, &slot->hand, &slot->hand_back};
    return finish(s, messages, 3, activations, e);
}

enum status stage_forward_end(struct stage *s, int micro, struct error *e)
{
    struct stage_slot *slot = slot_of(s, micro);
    if (!has_behind(s))
        return OK;
    slot->hand = message_of(s, micro, s->last, s->job->grid.stage + 1, slot->out);
    TRY(begin_send(s, &slot->hand, activations, e));
    if (!s->exec->training)
        return OK;
    slot->take_back = message_of(s, micro, s->last, s->job->grid.stage + 1, slot->out_gradient);
    return begin_receive(s, &slot->take_back, gradients, e);
}

enum status stage_backward_begin(struct stage *s, int micro, struct error *e)
{
    struct message *const messages[] = {&slot_of(s, micro)->take_back};
    return has_behind(s) ? finish(s, messages, 1, gradients, e) : OK;
}

enum status stage_backward_end(struct stage *s, int micro, struct error *e)
{
    struct stage_slot *slot = slot_of(s, micro);
    s->kept--;
    if (!has_before(s))
        return OK;
    slot->hand_back = message_of(s, micro, s->first, s->job->grid.stage - 1, slot->in_gradient);
    TRY(begin_send(s, &slot->hand_back, gradients, e));
    return take(s, micro + s->n_slots, e);
}

enum status stage_step_end(struct stage *s, struct error *e)
{
    for (int i = 0; i < s->n_slots && s->job->grid.stages > 1; i++) {
        struct stage_slot *slot = &s->slots[i];
        struct message *const messages[] = {&slot->hand, &slot->hand_back};
        TRY(finish(s, messages, 2, activations, e));
    }
    return OK;
}
