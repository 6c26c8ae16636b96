/* Plain loops: the test oracle for maxpool2d.c. Never tuned. Backward searches for each maximum
 * again. */
#include "kernels/layers/pool2d.h"

/* Returns the offset of the field's maximum in the plane: the last NaN in the field, if any, else
 * the first of the largest values. */
static size_t find_maximum(const struct layer_desc *l, const struct receptive_field *f,
                           const real *plane)
{
    size_t best = field_offset(l, f, f->row_begin, f->column_begin);
    for (int r = f->row_begin; r < f->row_end; r++) {
        for (int c = f->column_begin; c < f->column_end; c++) {
            size_t at = field_offset(l, f, r, c);
            if (plane[at] > plane[best] || plane[at] != plane[at])
                best = at;
        }
    }
    return best;
}

static void take_maximum(const struct layer_call *c, const struct receptive_field *f, size_t plane,
                         size_t out)
{
    c->y[out] = c->x[plane + find_maximum(c->layer, f, c->x + plane)];
}

static void give_to_maximum(const struct layer_call *c, const struct receptive_field *f,
                            size_t plane, size_t out)
{
    c->dx[plane + find_maximum(c->layer, f, c->x + plane)] += c->dy[out];
}

static void maxpool2d_ref_forward(const struct layer_call *c)
{
    pool_all_outputs(c, take_maximum);
}

static void maxpool2d_ref_backward(const struct layer_call *c)
{
    pool_all_gradients(c, give_to_maximum);
}

const struct layer_kernel layer_maxpool2d_ref = {
    .forward = maxpool2d_ref_forward,
    .backward = maxpool2d_ref_backward,
};
