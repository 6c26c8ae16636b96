/* Times every op of a network's plan. Each round times all plans, so that disturbances affect all
 * of them. Ops run in whole training steps, with the cache contents of training. */
#include <math.h>
#include <string.h>

#include "bench/workloads/sweeps/file.h"
#include "bench/workloads/sweeps/kernel/setup.h"
#include "kernels/base/clock.h"

/* Number of images on which results are compared. It is small, since the reference plan is slow. */
#define IMAGES_COMPARED 8

#define TEXT_BYTES 512

/* A combination of plan and instruction set, and its times. ms [pass][op][repeat]: times of single
 * ops. train_ms, loss_ms, update_ms [repeat]: times of whole training steps, and of loss and update
 * in them. product_gflop_per_s [repeat]: mean rate of a fixed matrix product, timed once before and
 * once after each step. */
struct lane {
    enum plan plan;
    enum isa isa;
    struct net *net;
    int ops, repeats;
    double *ms, *train_ms, *loss_ms, *update_ms, *product_gflop_per_s;
    /* [pass][ops + 1] relative distance from the results of the reference plan, and bound of this
     * distance; the last element of a pass is for the whole network */
    double *residual, *bound;
};

static int lanes_of(const struct sweep *s)
{
    return s->options->n_plans * s->options->n_isas;
}

static double *ms_of(const struct lane *lane, enum pass pass, int op)
{
    return lane->ms + ((size_t)pass * (size_t)lane->ops + (size_t)op) * (size_t)lane->repeats;
}

static size_t judged(const struct lane *lane, enum pass pass, int op)
{
    return (size_t)pass * (size_t)(lane->ops + 1) + (size_t)op;
}

/* ---- Setting up ---- */

/* Returns the precision of activations in a lane (a plan with an instruction set). */
static enum precision values_of(const struct lane *lane, const struct sweep *s)
{
    return lane->isa != isa_exact(lane->isa) ? PRECISION_bf16 : s->options->precision;
}

static enum status make_net(struct lane *lane, const struct sweep *s, int n_max, struct error *e)
{
    const struct net_options options = {.plan = lane->plan,
                                        .isa = lane->isa,
                                        .values = values_of(lane, s),
                                        .n_max = n_max,
                                        .threads = 1,
                                        .slots = 1};
    return net_create(&lane->net, s->desc, &options, e);
}

/* Opens lane i. Lanes are ordered by plan, then by instruction set. */
static enum status open_lane(struct lane *lane, const struct sweep *s, int i,
                             struct mem_room *memory, struct error *e)
{
    const struct sweep_options *o = s->options;
    *lane = (struct lane){
        .plan = o->plans[i / o->n_isas], .isa = o->isas[i % o->n_isas], .repeats = o->repeats};
    TRY(make_net(lane, s, o->batch, e));
    lane->ops = net_ops(lane->net);
    size_t ops = (size_t)lane->ops, rows = PASSES * (ops + 1);
    size_t repeats = (size_t)lane->repeats;
    TRY(MEM_KEEP(memory, lane->ms, PASSES * ops * repeats, "the times of ops", e));
    TRY(MEM_KEEP(memory, lane->train_ms, repeats, "the times of steps", e));
    TRY(MEM_KEEP(memory, lane->loss_ms, repeats, "the times of losses", e));
    TRY(MEM_KEEP(memory, lane->update_ms, repeats, "the times of updates", e));
    TRY(MEM_KEEP(memory, lane->product_gflop_per_s, repeats, "the rates of a product", e));
    TRY(MEM_KEEP(memory, lane->residual, rows, "residuals", e));
    return MEM_KEEP(memory, lane->bound, rows, "bounds of residuals", e);
}

/* ---- Running ---- */

static double elapsed_ms(int64_t begin_ns)
{
    return 1e-6 * (double)(clock_ns() - begin_ns);
}

/* Runs one training step without update. Stores the times of its ops and loss at index `repeat`;
 * stores no times if `repeat` is negative. */
static void run_step(struct setup *r, const struct lane *lane, int n, const real *params,
                     real *grads, int repeat)
{
    net_load(lane->net, &r->batch.ex, 0, n, r->batch.images);
    for (int i = 0; i < lane->ops; i++) {
        int64_t begin_ns = clock_ns();
        net_forward(lane->net, &r->batch.ex, 0, i, i + 1, params);
        if (repeat >= 0)
            ms_of(lane, PASS_FORWARD, i)[repeat] = elapsed_ms(begin_ns);
    }
    int64_t loss_ns = clock_ns();
    net_loss(lane->net, &r->batch.ex, 0, r->batch.labels, NULL, 1.0 / n);
    if (repeat >= 0)
        lane->loss_ms[repeat] = elapsed_ms(loss_ns);
    for (int i = lane->ops - 1; i >= 0; i--) {
        int64_t begin_ns = clock_ns();
        net_backward(lane->net, &r->batch.ex, 0, i, i + 1, params, grads);
        if (repeat >= 0)
            ms_of(lane, PASS_BACKWARD, i)[repeat] = elapsed_ms(begin_ns);
    }
}

/* Times a training step between two matrix products. An untimed step precedes the timed step,
 * because the product fills the caches with its matrices. */
static void time_step(struct setup *r, const struct lane *lane, int n, int repeat)
{
    double before = product_gflop_per_s(&r->product);
    run_step(r, lane, n, r->batch.params, r->batch.grads, -1);
    setup_update(r);
    int64_t begin_ns = clock_ns();
    run_step(r, lane, n, r->batch.params, r->batch.grads, repeat);
    int64_t update_ns = clock_ns();
    setup_update(r);
    double update_ms = elapsed_ms(update_ns), train_ms = elapsed_ms(begin_ns);
    double after = product_gflop_per_s(&r->product);
    if (repeat < 0)
        return;
    lane->update_ms[repeat] = update_ms;
    lane->train_ms[repeat] = train_ms;
    lane->product_gflop_per_s[repeat] = 2 / (1 / before + 1 / after);
}

/* ---- Comparison with the reference ---- */

/* Returns the relative distance of an op's output from the reference, for n images. Only the part
 * that later layers read is compared. */
static double output_distance(const struct sweep *s, const struct net_op_view *view,
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

static double gradient_distance(const struct sweep *s, const struct setup *r, int first, int last)
{
    struct distance d = {0, 0};
    for (int i = first; i < last; i++) {
        const struct tensor_desc *t = &s->desc->tensors[i];
        distance_add(&d, r->batch.grads + t->offset, r->reference_grads + t->offset, t->count);
    }
    return distance_relative(&d);
}

/* Returns whether lane->net rounds operands or activations to bf16. */
static bool rounds(const struct lane *lane, const struct sweep *s)
{
    if (s->options->precision == PRECISION_bf16)
        return true;
    for (int i = 0; i < lane->ops; i++)
        if (net_op_view(lane->net, 0, i).bf16)
            return true;
    return false;
}

/* Compares the outputs of all ops with the reference plan. An op whose output layout differs (`y`
 * is NULL) gets the residual and bound of the next op. The layout of the logits always matches. */
static void compare_forward(struct lane *lane, const struct sweep *s, const struct net *reference,
                            int n)
{
    for (int i = lane->ops - 1; i >= 0; i--) {
        struct net_op_view view = net_op_view(lane->net, 0, i);
        size_t at = judged(lane, PASS_FORWARD, i);
        if (view.y == NULL) {
            lane->residual[at] = lane->residual[at + 1];
            lane->bound[at] = lane->bound[at + 1];
            continue;
        }
        const real *expected = net_op_view(reference, 0, view.last_layer - 1).y;
        lane->residual[at] = output_distance(s, &view, expected, n);
        lane->bound[at] =
            bound_of_net(s->desc, view.last_layer - 1, n, PASS_FORWARD, rounds(lane, s));
    }
    size_t whole = judged(lane, PASS_FORWARD, lane->ops);
    lane->residual[whole] = lane->residual[whole - 1];
    lane->bound[whole] = lane->bound[whole - 1];
}

/* Compares parameter gradients with the reference. An op without parameters passes its errors to
 * earlier ops, so it gets residual and bound of the nearest earlier op with parameters; NAN:
 * none. */
static void compare_backward(struct lane *lane, const struct sweep *s, const struct setup *r, int n)
{
    double residual = NAN, bound = NAN;
    for (int i = 0; i < lane->ops; i++) {
        int first, last;
        net_op_tensors(lane->net, i, &first, &last);
        if (first < last) {
            struct net_op_view view = net_op_view(lane->net, 0, i);
            residual = gradient_distance(s, r, first, last);
            bound = bound_of_net(s->desc, view.first_layer, n, PASS_BACKWARD, rounds(lane, s));
        }
        lane->residual[judged(lane, PASS_BACKWARD, i)] = residual;
        lane->bound[judged(lane, PASS_BACKWARD, i)] = bound;
    }
    size_t whole = judged(lane, PASS_BACKWARD, lane->ops);
    lane->residual[whole] = gradient_distance(s, r, 0, s->desc->n_tensors);
    lane->bound[whole] = bound_of_net(s->desc, 0, n, PASS_BACKWARD, rounds(lane, s));
}

static enum status compare(struct lane *lanes, const struct sweep *s, struct setup *r,
                           struct error *e)
{
    int n = s->options->batch < IMAGES_COMPARED ? s->options->batch : IMAGES_COMPARED;
    struct lane reference = {.plan = PLAN_REFERENCE, .isa = lanes[0].isa};
    TRY(make_net(&reference, s, n, e));
    reference.ops = net_ops(reference.net);
    run_step(r, &reference, n, r->batch.params, r->reference_grads, -1);
    for (int i = 0; i < lanes_of(s); i++) {
        run_step(r, &lanes[i], n, r->spoilt, r->batch.grads, -1);
        compare_forward(&lanes[i], s, reference.net, n);
        compare_backward(&lanes[i], s, r, n);
    }
    net_destroy(reference.net);
    return OK;
}

/* ---- Rows ---- */

/* Returns the time (ms) of the ops of layers [first, last), or of the whole step for PASS_TRAIN.
 * NAN if the plan has no ops with these boundaries. */
static double layers_ms(const struct lane *lane, enum pass pass, int first, int last, int repeat)
{
    bool begins = false, ends = false;
    double sum = 0;
    if (pass == PASS_TRAIN)
        return lane->train_ms[repeat];
    for (int i = 0; i < lane->ops; i++) {
        struct net_op_view view = net_op_view(lane->net, 0, i);
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
    if (other == NULL)
        return;
    for (int k = 0; k < lane->repeats; k++)
        room[k] = layers_ms(other, pass, first, last, k) / layers_ms(lane, pass, first, last, k);
    struct interval ratio = stats_median_interval(room, (size_t)lane->repeats, 0.95);
    row->other_plan = plan_name(other->plan);
    row->other_isa = isa_names()[other->isa];
    CSV_SET_INTERVAL(row, ratio, ratio, 1);
}

/* Sets done_pct: FLOP rate of layers [first, last) in per cent of the matrix product's rate. Each
 * repetition compares both rates, so that a slow moment of the machine affects both. */
static void compare_product(struct kernel_row *row, const struct lane *lane, enum pass pass,
                            int first, int last, double *room)
{
    for (int k = 0; k < lane->repeats; k++)
        room[k] = 1e-4 * row->flop_done / layers_ms(lane, pass, first, last, k) /
                  lane->product_gflop_per_s[k];
    struct interval share = stats_median_interval(room, (size_t)lane->repeats, 0.95);
    CSV_SET_INTERVAL(row, done_pct, share, 1);
}

static uint64_t flops_done(const struct lane *lane, enum pass pass, int position)
{
    if (position == lane->ops)
        return (pass != PASS_BACKWARD ? net_flops_done(lane->net, false) : 0) +
               (pass != PASS_FORWARD ? net_flops_done(lane->net, true) : 0);
    struct net_op_view view = net_op_view(lane->net, 0, position);
    return pass == PASS_FORWARD ? view.flops_forward : view.flops_backward;
}

static struct value_bytes value_bytes_of(const struct lane *lane, int position)
{
    bool whole = position == lane->ops;
    return (struct value_bytes){
        net_op_view(lane->net, 0, whole ? 0 : position).in_bytes,
        net_op_view(lane->net, 0, whole ? lane->ops - 1 : position).out_bytes};
}

/* Prints the row of the op that computes layers [first, last), or the row of the whole network.
 * `position`: index of the op, or lane->ops for the whole network. */
static void print_layers(struct sweep *s, const struct lane *lane, const struct lane *other,
                         enum pass pass, int first, int last, int position, double *room)
{
    char names[TEXT_BYTES];
    bool whole = position == lane->ops;
    size_t at = judged(lane, pass == PASS_FORWARD ? PASS_FORWARD : PASS_BACKWARD, position);
    struct kernel_row row = {
        .plan = plan_name(lane->plan),
        .part = whole ? "net" : "op",
        .position = whole ? NAN : position,
        .kernel = whole ? "" : net_op_name(lane->net, position),
        .layers = whole ? "" : layer_list(names, sizeof names, s->desc, first, last),
        .pass = pass_name(pass),
        .flop = written_flop(s->desc, first, last, s->options->batch, pass),
        .flop_done = (double)s->options->batch * (double)flops_done(lane, pass, position),
        .bytes = least_bytes(s->desc, first, last, s->options->batch, pass,
                             value_bytes_of(lane, position)),
        .residual = lane->residual[at],
        .bound = lane->bound[at],
    };
    compare_times(&row, lane, other, pass, first, last, room);
    compare_product(&row, lane, pass, first, last, room);
    for (int k = 0; k < lane->repeats; k++)
        room[k] = layers_ms(lane, pass, first, last, k);
    sweep_print_row(s, &row, lane->isa, room, (size_t)lane->repeats);
}

static void print_lane(struct sweep *s, const struct lane *lane, const struct lane *other,
                       enum pass pass, double *room)
{
    for (int i = 0; pass != PASS_TRAIN && i < lane->ops; i++) {
        struct net_op_view view = net_op_view(lane->net, 0, i);
        if ((pass == PASS_FORWARD || view.learns) &&
            sweep_wants(s, view.first_layer, view.last_layer))
            print_layers(s, lane, other, pass, view.first_layer, view.last_layer, i, room);
    }
    if (s->options->layer == NULL)
        print_layers(s, lane, other, pass, 0, s->desc->n_layers, lane->ops, room);
}

static void print_lanes(struct sweep *s, const struct lane *lanes, double *room)
{
    int n = lanes_of(s);
    for (int i = 0; i < n; i++)
        for (int pass = PASS_FORWARD; pass <= PASS_TRAIN; pass++)
            print_lane(s, &lanes[i], n > 1 ? &lanes[1 - i] : NULL, (enum pass)pass, room);
}

/* ---- Limits ---- */

static double least(const double *ms, int repeats)
{
    double best = INFINITY;
    for (int k = 0; k < repeats; k++)
        best = fmin(best, ms[k]);
    return best;
}

/* Rows of limits.csv for one lane (a combination of plan and instruction set). `layers`: the rows'
 * layer lists, such as "conv1+relu1". `limits`: peak rates of the core. */
struct limit_rows {
    const struct sweep *s;
    const struct lane *lane;
    const struct limits *limits;
    struct limit_row *row;
    char (*layers)[TEXT_BYTES];
    size_t n;
};

/* Appends and returns a row whose time is the shortest of ms [repeats]. */
static struct limit_row *add_limit(struct limit_rows *rows, const char *op, enum pass pass,
                                   const double *ms)
{
    const struct lane *lane = rows->lane;
    const struct sweep_options *o = rows->s->options;
    struct limit_row *row = &rows->row[rows->n++];
    *row = (struct limit_row){.model = rows->s->desc->name,
                              .plan = plan_name(lane->plan),
                              .isa = isa_names()[lane->isa],
                              .precision = names_precisions->names[values_of(lane, rows->s)],
                              .batch = o->batch,
                              .repeats = lane->repeats,
                              .op = op,
                              .layers = "",
                              .pass = pass_name(pass),
                              .time_ms = least(ms, lane->repeats),
                              .unit_gflop_per_s = NAN};
    return row;
}

static void add_limit_of_op(struct limit_rows *rows, enum pass pass, int op)
{
    const struct lane *lane = rows->lane;
    const struct net_desc *desc = rows->s->desc;
    const struct net_op_view view = net_op_view(lane->net, 0, op);
    char *layers = rows->layers[rows->n];
    int batch = rows->s->options->batch;
    if (pass == PASS_BACKWARD && !view.learns)
        return;
    struct limit_row *row =
        add_limit(rows, net_op_name(lane->net, op), pass, ms_of(lane, pass, op));
    row->layers = layer_list(layers, TEXT_BYTES, desc, view.first_layer, view.last_layer);
    row->flop_done = batch * (double)flops_done(lane, pass, op);
    row->bytes =
        least_bytes(desc, view.first_layer, view.last_layer, batch, pass, value_bytes_of(lane, op));
    row->skips_zeros = (view.savings & SAVING_BIT(SAVING_data_zeros)) != 0;
    row->unit_gflop_per_s =
        rows->limits->unit_gflop_per_s[view.bf16 ? lane->isa : isa_exact(lane->isa)];
}

/* Appends rows for the forward pass of every op, for the backward pass of every op that has one,
 * and for loss, update and the whole step. Bytes of the loss: logits read, and their gradient
 * written. Bytes of the update: weights, gradients and momenta read, weights and momenta
 * written. */
static void add_limits(struct limit_rows *rows)
{
    const struct lane *lane = rows->lane;
    const struct sweep *s = rows->s;
    for (enum pass pass = PASS_FORWARD; pass < PASSES; pass++)
        for (int op = 0; op < lane->ops; op++)
            add_limit_of_op(rows, pass, op);
    add_limit(rows, "loss", PASS_TRAIN, lane->loss_ms)->bytes =
        2.0 * sizeof(real) * s->options->batch * s->desc->classes;
    add_limit(rows, "update", PASS_TRAIN, lane->update_ms)->bytes =
        5.0 * sizeof(real) * (double)s->desc->n_params;
    struct limit_row *step = add_limit(rows, "step", PASS_TRAIN, lane->train_ms);
    for (const struct limit_row *row = rows->row; row < step; row++) {
        step->flop_done += row->flop_done;
        step->bytes += row->bytes;
    }
}

static enum status write_limits(struct limit_rows *rows, FILE *out, struct mem_room *memory,
                                struct error *e)
{
    static const char what[] = "limits of ops";
    const size_t most = PASSES * (size_t)rows->lane->ops + 3;
    TRY(MEM_KEEP(memory, rows->row, most, what, e));
    TRY(MEM_KEEP(memory, rows->layers, most, what, e));
    add_limits(rows);
    limits_judge(rows->limits, rows->row, rows->n);
    limits_write(out, rows->row, rows->n);
    return OK;
}

static enum status write_all_limits(const struct sweep *s, struct setup *r,
                                    const struct lane *lanes, struct error *e)
{
    struct sweep_file file;
    enum status status = OK;
    TRY(sweep_file_open(&file, s->options->record, "limits.csv", e));
    csv_write_header(file.out, &sweep_files[SWEEP_LIMITS]);
    for (int i = 0; i < lanes_of(s) && status == OK; i++) {
        struct limit_rows rows = {.s = s, .lane = &lanes[i], .limits = &r->limits};
        status = write_limits(&rows, file.out, &r->batch.memory, e);
    }
    return sweep_file_close(&file, status, e);
}

/* ---- The sweep ---- */

/* Times every lane (combination of plan and instruction set) once. With --part limits, the core's
 * peak rates are measured before each lane, since the clock frequency of the core may change. */
static void time_round(const struct sweep *s, struct setup *r, const struct lane *lanes, int repeat)
{
    for (int i = 0; i < lanes_of(s); i++) {
        if (s->options->limits)
            limits_measure(&r->limits, lanes[i].isa);
        time_step(r, &lanes[i], s->options->batch, repeat);
    }
}

static enum status time_lanes(struct sweep *s, struct setup *r, struct lane *lanes, struct error *e)
{
    int n = lanes_of(s), repeats = s->options->repeats;
    double *room;
    TRY(setup_open(r, s, e));
    for (int i = 0; i < n; i++)
        TRY(open_lane(&lanes[i], s, i, &r->batch.memory, e));
    TRY(compare(lanes, s, r, e));
    TRY(MEM_KEEP(&r->batch.memory, room, (size_t)repeats, "times", e));
    for (int k = -1; k < repeats; k++) /* the first round is a warm-up */
        time_round(s, r, lanes, k);
    print_lanes(s, lanes, room);
    return s->options->limits ? write_all_limits(s, r, lanes, e) : OK;
}

enum status sweep_ops(struct sweep *s, struct error *e)
{
    struct lane lanes[LANES_MAX] = {{.net = NULL}};
    struct setup r = {.product = {NULL}};
    enum status status = time_lanes(s, &r, lanes, e);
    for (int i = 0; i < lanes_of(s); i++)
        net_destroy(lanes[i].net);
    mem_room_empty(&r.batch.memory);
    return status;
}
