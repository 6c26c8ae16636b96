/* Choosing the steps of a plan. */
#include "kernels/step.h"

struct step_row {
    const struct step_kernel *kernel;
    unsigned plans;
};

static const struct step_row step_rows[] = {
#define STEP(name, plans, summary) {&step_##name, plans},
#include "kernels/steps.def"
#undef STEP
};

const struct step_kernel *step_find(enum plan plan, enum layout in, const struct layer_desc *layers,
                                    int n, const struct extent *read, int *taken)
{
    for (size_t i = 0; i < sizeof step_rows / sizeof *step_rows; i++) {
        const struct step_kernel *kernel = step_rows[i].kernel;
        /* Images can be turned into numbers for whoever does not take bytes. */
        bool fits = kernel->in == in || (in == LAYOUT_BYTES && kernel->in == LAYOUT_NCHW);
        if (!fits || !(step_rows[i].plans & 1u << plan))
            continue;
        *taken = kernel->match(layers, n, read);
        if (*taken > 0)
            return kernel;
    }
    return NULL;
}

/* Rows of the input under the first `out` windows. */
static int rows_under(int out, int kernel, int stride, int pad, int in)
{
    int rows = (out - 1) * stride + kernel - pad;
    return rows < in ? rows : in;
}

static struct extent read_before(const struct layer_desc *l, struct extent out)
{
    switch (l->kind) {
    case LAYER_relu:
    case LAYER_dropout:
    case LAYER_dropout2d:
        return out;
    case LAYER_conv2d:
    case LAYER_maxpool2d:
        return (struct extent){
            rows_under(out.h, l->kernel_h, l->stride_h, l->pad_h, l->in.h),
            rows_under(out.w, l->kernel_w, l->stride_w, l->pad_w, l->in.w),
        };
    default:
        return (struct extent){l->in.h, l->in.w};
    }
}

void plan_read_extents(const struct layer_desc *layers, int n, struct extent *read)
{
    read[n] = (struct extent){layers[n - 1].out.h, layers[n - 1].out.w};
    for (int i = n - 1; i >= 0; i--)
        read[i] = read_before(&layers[i], read[i + 1]);
}
