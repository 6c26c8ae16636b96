/* Selects the ops of a plan, and finds the part of each activation that later layers read; ops need
 * not compute the rest. */
#include "kernels/ops/op.h"

struct op_row {
    const struct op_kernel *kernel;
    unsigned plans;
    enum op_family family;
};

static const struct op_row op_rows[] = {
#define OP(name, plans, family, summary) {&op_##name, plans, family},
#include "kernels/ops/ops.def"
};

/* Returns the family that a kernel choice selects. FAMILY_ANY: no preference, the first matching
 * row of ops.def is used. */
static enum op_family family_of(enum kernel_choice choice)
{
    static const enum op_family families[KERNEL_CHOICES] = {[CHOICE_direct] = FAMILY_DIRECT,
                                                            [CHOICE_winograd_f4] = FAMILY_WINOGRAD,
                                                            [CHOICE_winograd_f2] = FAMILY_WINOGRAD,
                                                            [CHOICE_gemm] = FAMILY_GEMM};
    return families[choice];
}

/* Returns whether a layer may use ops of this family if no family is requested. With AMX tiles,
 * direct sums are faster than Winograd's algorithm and replace it. However, they hold the 16-bit
 * operands of at least 32 images per thread. If these exceed 64 MiB, the layer may use Winograd's
 * algorithm. */
static bool is_default(enum op_family family, enum isa isa, const struct layer_desc *layer)
{
    const size_t most = (size_t)64 << 20, images = 32;
    size_t numbers = images * (shape_count(layer->in) + shape_count(layer->out));
    return family != FAMILY_WINOGRAD || isa == isa_of_vectors(isa) ||
           numbers * sizeof(uint16_t) > most;
}

static const struct op_kernel *find_in(enum op_family family, enum plan plan, enum isa isa,
                                       enum layout in, const struct layer_desc *layers, int n,
                                       const struct extent *read, int *taken)
{
    for (size_t i = 0; i < sizeof op_rows / sizeof *op_rows; i++) {
        const struct op_kernel *kernel = op_rows[i].kernel;
        /* An op that reads [N,C,H,W] also fits images of bytes, because net_load then converts
         * them. */
        bool fits = kernel->in == in || (in == LAYOUT_BYTES && kernel->in == LAYOUT_NCHW);
        bool asked = family == FAMILY_ANY ? is_default(op_rows[i].family, isa, layers)
                                          : op_rows[i].family == family;
        bool can = isa != ISA_PORTABLE || !kernel->needs_wide;
        if (!fits || !asked || !can || !(op_rows[i].plans & 1u << plan))
            continue;
        *taken = kernel->match(layers, n, read);
        if (*taken > 0)
            return kernel;
    }
    return NULL;
}

const struct op_kernel *op_find(enum plan plan, enum isa isa, enum layout in,
                                const struct layer_desc *layers, int n, const struct extent *read,
                                int *taken)
{
    enum op_family family = family_of(read->choice);
    const struct op_kernel *found = find_in(family, plan, isa, in, layers, n, read, taken);
    return found != NULL ? found : find_in(FAMILY_ANY, plan, isa, in, layers, n, read, taken);
}

enum kernel_choice op_choice(const struct op_kernel *kernel, enum kernel_choice asked)
{
    enum op_family family = FAMILY_ANY;
    for (size_t i = 0; i < sizeof op_rows / sizeof *op_rows; i++)
        if (op_rows[i].kernel == kernel)
            family = op_rows[i].family;
    if (family == FAMILY_DIRECT)
        return CHOICE_direct;
    return family != FAMILY_ANY && family == family_of(asked) ? asked : CHOICE_shape;
}

/* Returns the number of input rows (or columns) that the first `out` windows cover; at least 1,
 * even if the windows only contain padding, because ops must compute something. */
static int rows_under(int out, int kernel, int stride, int pad, int in)
{
    int rows = (out - 1) * stride + kernel - pad;
    return rows < 1 ? 1 : rows < in ? rows : in;
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
            .h = rows_under(out.h, l->kernel_h, l->stride_h, l->pad_h, l->in.h),
            .w = rows_under(out.w, l->kernel_w, l->stride_w, l->pad_w, l->in.w),
        };
    default:
        return (struct extent){.h = l->in.h, .w = l->in.w};
    }
}

void plan_read_extents(const struct layer_desc *layers, int n, struct extent *read)
{
    read[n] = (struct extent){.h = layers[n - 1].out.h, .w = layers[n - 1].out.w};
    for (int i = n - 1; i >= 0; i--)
        read[i] = read_before(&layers[i], read[i + 1]);
}
