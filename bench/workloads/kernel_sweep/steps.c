/* Every step of a compiled net. All plans take turns, step by step, so that whatever disturbs the
 * machine disturbs all of them, and every step finds the caches as training leaves them. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bench/workloads/kernel_sweep/sweep.h"
#include "kernels/base/clock.h"
#include "kernels/base/mem.h"
#include "kernels/base/rng.h"

/* Results are compared on a few images: the reference plan takes its time. */
#define IMAGES_COMPARED 8

#define TEXT_BYTES 512

/* A batch, arenas, and how they are brought. */
struct rig {
    struct exec ex;
    uint8_t *images, *labels;
    uint32_t *samples;
    real *params, *spoilt, *grads, *reference_grads, *buffers;
};

/* One plan and its times: [pass][step][repeat]. */
struct lane {
    enum plan plan;
    struct net *net;
    int steps, repeats;
    double *ms;
    double *residual, *bound; /* [pass][step], of the last element the whole net */
};

static double *ms_of(const struct lane *lane, enum pass pass, int step)
{
    return lane->ms + ((size_t)pass * (size_t)lane->steps + (size_t)step) * (size_t)lane->repeats;
}

static size_t judged(const struct lane *lane, enum pass pass, int step)
{
    return (size_t)pass * (size_t)(lane->steps + 1) + (size_t)step;
}

/* --- Setting up ------------------------------------------------------------------------------- */

/* One per cent off, in the tensors of one layer: what a wrong kernel could do. */
static void spoil(const struct sweep *s, real *params)
{
    for (int i = 0; i < s->desc->n_tensors; i++) {
        const struct tensor_desc *t = &s->desc->tensors[i];
        if (!s->options->spoil || strcmp(s->desc->layers[t->layer].name, s->options->spoil) != 0)
            continue;
        for (size_t k = 0; k < t->count; k++)
            params[t->offset + k] *= (real)1.01;
    }
}

static void fill_rig(struct rig *r, const struct sweep *s)
{
    size_t image = shape_count(s->desc->input);
    for (uint32_t i = 0; i < (uint32_t)s->options->batch; i++) {
        for (uint32_t k = 0; k < image; k++)
            r->images[i * image + k] = (uint8_t)rng_word(1, 0, 0, i, k);
        r->labels[i] = (uint8_t)(rng_word(2, 0, 0, 0, i) % (uint32_t)s->desc->classes);
        r->samples[i] = i;
    }
    net_init_params(s->desc, r->params, 1);
    net_init_params(s->desc, r->spoilt, 1);
    spoil(s, r->spoilt);
}

static enum status open_rig(struct rig *r, const struct sweep *s, struct error *e)
{
    size_t batch = (size_t)s->options->batch, arena = s->desc->n_params * sizeof(real);
    r->images = mem_alloc(batch * shape_count(s->desc->input));
    r->labels = mem_alloc(batch);
    r->samples = mem_alloc(batch * sizeof *r->samples);
    r->params = mem_alloc(arena);
    r->spoilt = mem_alloc(arena);
    r->grads = mem_alloc(arena);
    r->reference_grads = mem_alloc(arena);
    r->buffers = sweep_make_buffers(s->desc);
    if (!r->buffers || !r->images || !r->labels || !r->samples || !r->params || !r->spoilt ||
        !r->grads || !r->reference_grads)
        return error_set(e, ERR_MEMORY, "no memory for %zu parameters and %zu images",
                         s->desc->n_params, batch);
    r->ex =
        (struct exec){.training = true, .seed = 1, .samples = r->samples, .buffers = r->buffers};
    fill_rig(r, s);
    return OK;
}

static void close_rig(struct rig *r)
{
    mem_free(r->images);
    mem_free(r->labels);
    mem_free(r->samples);
    mem_free(r->params);
    mem_free(r->spoilt);
    mem_free(r->grads);
    mem_free(r->reference_grads);
    mem_free(r->buffers);
}

static enum status make_net(struct net **net, const struct sweep *s, enum plan plan, int n_max,
                            struct error *e)
{
    const struct net_options options = {
        .plan = plan, .isa = s->options->isa, .n_max = n_max, .threads = 1, .slots = 1};
    return net_create(net, s->desc, &options, e);
}

static enum status open_lane(struct lane *lane, const struct sweep *s, enum plan plan,
                             struct error *e)
{
    *lane = (struct lane){.plan = plan, .repeats = s->options->repeats};
    if (make_net(&lane->net, s, plan, s->options->batch, e) != OK)
        return e->status;
    lane->steps = net_steps(lane->net);
    size_t steps = (size_t)lane->steps, rows = PASSES * (steps + 1);
    lane->ms = calloc(PASSES * steps * (size_t)lane->repeats, sizeof *lane->ms);
    lane->residual = calloc(rows, sizeof *lane->residual);
    lane->bound = calloc(rows, sizeof *lane->bound);
    return lane->ms && lane->residual && lane->bound
               ? OK
               : error_set(e, ERR_MEMORY, "no memory for the times of %zu steps", steps);
}

static void close_lane(struct lane *lane)
{
    net_destroy(lane->net);
    free(lane->ms);
    free(lane->residual);
    free(lane->bound);
}

/* --- Running ---------------------------------------------------------------------------------- */

static double elapsed_ms(int64_t begin_ns)
{
    return 1e-6 * (double)(clock_ns() - begin_ns);
}

/* One training step without its update; times go to column `repeat`, or nowhere if it is negative.
 */
static void run_turn(struct rig *r, const struct lane *lane, int n, const real *params, real *grads,
                     int repeat)
{
    net_load(lane->net, &r->ex, 0, n, r->images);
    for (int i = 0; i < lane->steps; i++) {
        int64_t begin_ns = clock_ns();
        net_forward(lane->net, &r->ex, 0, i, i + 1, params);
        if (repeat >= 0)
            ms_of(lane, PASS_FORWARD, i)[repeat] = elapsed_ms(begin_ns);
    }
    net_loss(lane->net, &r->ex, 0, r->labels, NULL, 1.0 / n);
    for (int i = lane->steps - 1; i >= 0; i--) {
        int64_t begin_ns = clock_ns();
        net_backward(lane->net, &r->ex, 0, i, i + 1, params, grads);
        if (repeat >= 0)
            ms_of(lane, PASS_BACKWARD, i)[repeat] = elapsed_ms(begin_ns);
    }
}

/* --- Comparing with the reference ------------------------------------------------------------- */

/* Of an output of n images, that part which a later layer reads. */
static double output_distance(const struct sweep *s, const struct net_step_view *view,
                              const real *reference, int n)
{
    struct distance d = {0, 0};
    struct shape out = s->desc->layers[view->last_layer - 1].out;
    for (int plane = 0; plane < n * out.c; plane++)
        for (int h = 0; h < view->read_h; h++) {
            size_t row = ((size_t)plane * (size_t)out.h + (size_t)h) * (size_t)out.w;
            distance_add(&d, view->y + row, reference + row, (size_t)view->read_w);
        }
    return distance_relative(&d);
}

static double gradient_distance(const struct sweep *s, const struct rig *r, int first, int last)
{
    struct distance d = {0, 0};
    for (int i = first; i < last; i++) {
        const struct tensor_desc *t = &s->desc->tensors[i];
        distance_add(&d, r->grads + t->offset, r->reference_grads + t->offset, t->count);
    }
    return distance_relative(&d);
}

/* The reference plan has a step a layer. A step whose output lies in a layout of its own is judged
 * by the next one whose output does not; the last one's are logits. */
static void compare_forward(struct lane *lane, const struct sweep *s, const struct net *reference,
                            int n)
{
    for (int i = lane->steps - 1; i >= 0; i--) {
        struct net_step_view view = net_step_view(lane->net, 0, i);
        size_t at = judged(lane, PASS_FORWARD, i);
        if (!view.y) {
            lane->residual[at] = lane->residual[at + 1];
            lane->bound[at] = lane->bound[at + 1];
            continue;
        }
        const real *expected = net_step_view(reference, 0, view.last_layer - 1).y;
        lane->residual[at] = output_distance(s, &view, expected, n);
        lane->bound[at] = bound_of_net(s->desc, view.last_layer - 1, n, PASS_FORWARD);
    }
    size_t whole = judged(lane, PASS_FORWARD, lane->steps);
    lane->residual[whole] = lane->residual[whole - 1];
    lane->bound[whole] = lane->bound[whole - 1];
}

/* A step without parameters is judged by the nearest before it that has some: its gradient came
 * through here. */
static void compare_backward(struct lane *lane, const struct sweep *s, const struct rig *r, int n)
{
    double residual = NAN, bound = NAN;
    for (int i = 0; i < lane->steps; i++) {
        int first, last;
        net_step_tensors(lane->net, i, &first, &last);
        if (first < last) {
            struct net_step_view view = net_step_view(lane->net, 0, i);
            residual = gradient_distance(s, r, first, last);
            bound = bound_of_net(s->desc, view.first_layer, n, PASS_BACKWARD);
        }
        lane->residual[judged(lane, PASS_BACKWARD, i)] = residual;
        lane->bound[judged(lane, PASS_BACKWARD, i)] = bound;
    }
    size_t whole = judged(lane, PASS_BACKWARD, lane->steps);
    lane->residual[whole] = gradient_distance(s, r, 0, s->desc->n_tensors);
    lane->bound[whole] = bound_of_net(s->desc, 0, n, PASS_BACKWARD);
}

static enum status compare(struct lane *lanes, const struct sweep *s, struct rig *r,
                           struct error *e)
{
    int n = s->options->batch < IMAGES_COMPARED ? s->options->batch : IMAGES_COMPARED;
    struct lane reference = {.plan = PLAN_REFERENCE};
    if (make_net(&reference.net, s, PLAN_REFERENCE, n, e) != OK)
        return e->status;
    reference.steps = net_steps(reference.net);
    run_turn(r, &reference, n, r->params, r->reference_grads, -1);
    for (int i = 0; i < s->options->n_plans; i++) {
        run_turn(r, &lanes[i], n, r->spoilt, r->grads, -1);
        compare_forward(&lanes[i], s, reference.net, n);
        compare_backward(&lanes[i], s, r, n);
    }
    net_destroy(reference.net);
    return OK;
}

/* --- Rows ------------------------------------------------------------------------------------- */

/* Time of the steps that make up layers [first, last) in one repeat; NAN where steps do not end
 * there. */
static double stretch_ms(const struct lane *lane, enum pass pass, int first, int last, int repeat)
{
    bool begins = false, ends = false;
    double sum = 0;
    for (int i = 0; i < lane->steps; i++) {
        struct net_step_view view = net_step_view(lane->net, 0, i);
        if (view.first_layer < first || view.last_layer > last)
            continue;
        begins = begins || view.first_layer == first;
        ends = ends || view.last_layer == last;
        sum += ms_of(lane, pass, i)[repeat];
    }
    return begins && ends ? sum : NAN;
}

static void compare_times(struct kernel_row *row, const struct lane *lane, const struct lane *other,
                          enum pass pass, int first, int last, double *room)
{
    row->ratio = row->ratio_lo = row->ratio_hi = NAN;
    if (!other)
        return;
    for (int k = 0; k < lane->repeats; k++)
        room[k] = stretch_ms(other, pass, first, last, k) / stretch_ms(lane, pass, first, last, k);
    struct interval ratio = stats_median_interval(room, (size_t)lane->repeats, 0.95);
    row->other_plan = plan_name(other->plan);
    row->ratio = ratio.mid;
    row->ratio_lo = ratio.lo;
    row->ratio_hi = ratio.hi;
}

/* Layers [first, last) as one row; `position` is a step, or the number of steps for the whole net.
 */
static void print_stretch(struct sweep *s, const struct lane *lane, const struct lane *other,
                          enum pass pass, int first, int last, int position, double *room)
{
    char names[TEXT_BYTES];
    bool whole = position == lane->steps;
    struct kernel_row row = {
        .plan = plan_name(lane->plan),
        .part = whole ? "net" : "step",
        .position = whole ? NAN : position,
        .kernel = whole ? "" : net_step_name(lane->net, position),
        .layers = whole ? "" : layer_list(names, sizeof names, s->desc, first, last),
        .pass = pass == PASS_FORWARD ? "forward" : "backward",
        .flop = written_flop(s->desc, first, last, s->options->batch, pass),
        .bytes = least_bytes(s->desc, first, last, s->options->batch, pass),
        .residual = lane->residual[judged(lane, pass, position)],
        .bound = lane->bound[judged(lane, pass, position)],
    };
    struct net_step_view view = {0};
    if (!whole)
        view = net_step_view(lane->net, 0, position);
    row.flop_done = (double)s->options->batch *
                    (double)(whole ? net_flops_done(lane->net, pass == PASS_BACKWARD)
                             : pass == PASS_FORWARD ? view.flops_forward
                                                    : view.flops_backward);
    compare_times(&row, lane, other, pass, first, last, room);
    for (int k = 0; k < lane->repeats; k++)
        room[k] = stretch_ms(lane, pass, first, last, k);
    sweep_print_row(s, &row, room, (size_t)lane->repeats);
}

static void print_lane(struct sweep *s, const struct lane *lane, const struct lane *other,
                       enum pass pass, double *room)
{
    for (int i = 0; i < lane->steps; i++) {
        struct net_step_view view = net_step_view(lane->net, 0, i);
        if ((pass == PASS_FORWARD || view.learns) &&
            sweep_wants(s, view.first_layer, view.last_layer))
            print_stretch(s, lane, other, pass, view.first_layer, view.last_layer, i, room);
    }
    if (!s->options->layer)
        print_stretch(s, lane, other, pass, 0, s->desc->n_layers, lane->steps, room);
}

static enum status print_lanes(struct sweep *s, const struct lane *lanes, struct error *e)
{
    int n = s->options->n_plans;
    double *room = calloc((size_t)s->options->repeats, sizeof *room);
    if (!room)
        return error_set(e, ERR_MEMORY, "no memory for %d times", s->options->repeats);
    for (int i = 0; i < n; i++)
        for (int pass = 0; pass < PASSES; pass++)
            print_lane(s, &lanes[i], n > 1 ? &lanes[1 - i] : NULL, (enum pass)pass, room);
    free(room);
    return OK;
}

enum status sweep_steps(struct sweep *s, struct error *e)
{
    struct lane lanes[PLANS_MAX] = {{.net = NULL}};
    struct rig r = {.images = NULL};
    enum status status = open_rig(&r, s, e);
    for (int i = 0; status == OK && i < s->options->n_plans; i++)
        status = open_lane(&lanes[i], s, s->options->plans[i], e);
    if (status == OK)
        status = compare(lanes, s, &r, e);
    /* The first turn warms up. */
    for (int k = -1; status == OK && k < s->options->repeats; k++)
        for (int i = 0; i < s->options->n_plans; i++)
            run_turn(&r, &lanes[i], s->options->batch, r.params, r.grads, k);
    if (status == OK)
        status = print_lanes(s, lanes, e);
    for (int i = 0; i < s->options->n_plans; i++)
        close_lane(&lanes[i]);
    close_rig(&r);
    return status;
}
