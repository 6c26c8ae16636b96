/* Derives the dimensions of a 3x3 convolution and chooses its algorithm (F4, F2, T2 or direct
 * sums). */
#include "kernels/ops/winograd.h"

static int ceil_divide(int a, int b)
{
    return (a + b - 1) / b;
}

static void set_kind(struct winograd *w, enum winograd_kind kind)
{
    static const struct {
        int points, outputs;
    } axis[] = {[WINOGRAD_F4] = {6, 4},
                [WINOGRAD_F2] = {4, 2},
                [WINOGRAD_T2] = {3, 2},
                [CONV_DIRECT] = {3, 1}};
    w->kind = kind;
    w->points = axis[kind].points;
    w->outputs = axis[kind].outputs;
    w->tiles_h = ceil_divide(w->out.h, w->outputs);
    w->tiles_w = ceil_divide(w->out.w, w->outputs);
}

/* Chooses direct sums in the exact plan, otherwise the requested algorithm. Without a request,
 * chooses the Winograd algorithm with the fewest products. If F2 and F4 have equally many, chooses
 * F2, since F2 has smaller rounding errors. */
static void choose_kind(struct winograd *w, const struct fused_layers *fused)
{
    const struct layer_desc *conv = fused->layers;
    if (fused->plan == PLAN_EXACT || fused->choice == CHOICE_direct) {
        set_kind(w, CONV_DIRECT);
        return;
    }
    if (fused->choice == CHOICE_winograd_f4 || fused->choice == CHOICE_winograd_f2) {
        set_kind(w, fused->choice == CHOICE_winograd_f4 ? WINOGRAD_F4 : WINOGRAD_F2);
        return;
    }
    bool two_by_two = w->in.h == 2 && w->in.w == 2 && w->out.h == 2 && w->out.w == 2;
    if (two_by_two && conv->pad_h == 1 && conv->pad_w == 1) {
        set_kind(w, WINOGRAD_T2);
        w->origin_h = w->origin_w = 0;
        return;
    }
    set_kind(w, WINOGRAD_F4);
    int products = winograd_points(w) * winograd_tiles(w);
    set_kind(w, WINOGRAD_F2);
    if (products < winograd_points(w) * winograd_tiles(w))
        set_kind(w, WINOGRAD_F4);
}

enum isa conv3x3_isa(const struct fused_layers *fused, enum winograd_kind kind)
{
    if (kind != CONV_DIRECT)
        return isa_of_vectors(fused->isa);
    return fused->plan == PLAN_EXACT ? isa_exact(fused->isa) : fused->isa;
}

struct winograd winograd_of(const struct fused_layers *fused)
{
    const struct layer_desc *conv = fused->layers;
    struct winograd w = {.in_c = conv->in.c,
                         .out_c = conv->out.c,
                         .block = winograd_tiles_for(fused->isa)->block,
                         .in = area_read(fused, 0),
                         .out = area_read(fused, 1),
                         .origin_h = -conv->pad_h,
                         .origin_w = -conv->pad_w};
    conv3x3_match(fused->layers, fused->n_layers, &w.epilogue, &w.norm);
    w.stored = area_read(fused, w.norm ? 1 : fused->n_layers);
    w.x_precision = values_precision(fused, fused->in);
    w.y_precision = values_precision(fused, w.norm ? LAYOUT_BLOCKED : fused->out);
    w.in_blocks = blocks_of(w.in_c, w.block);
    w.out_blocks = blocks_of(w.out_c, w.block);
    choose_kind(&w, fused);
    enum isa isa = conv3x3_isa(fused, w.kind);
    w.pair = winograd_tiles_for(isa)->pair;
    w.depth = winograd_product_for(isa)->depth;
    return w;
}
