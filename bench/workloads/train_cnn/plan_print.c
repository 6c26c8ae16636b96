#include "bench/workloads/train_cnn/plan_print.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "bench/workloads/train_cnn/trainer.h"
#include "kernels/base/mem.h"

enum { OP_WIDTH = 20 }; /* column width; fits the longest op name, winograd_first_bf16 */

static uint64_t flops_written(const struct net_desc *desc, int first, int last)
{
    uint64_t sum = 0;
    for (int i = first; i < last; i++)
        sum += desc->layers[i].flops_forward + desc->layers[i].flops_backward;
    return sum;
}

static int widest_layers(const struct net *net, const struct net_desc *desc)
{
    int width = (int)strlen("layers");
    for (int i = 0; i < net_ops(net); i++) {
        char layers[NET_OP_LAYERS];
        int length = (int)strlen(net_op_layers(net, desc, i, layers));
        width = length > width ? length : width;
    }
    return width;
}

static void print_op(FILE *out, const struct net *net, const struct net_desc *desc, int i,
                     int width)
{
    struct net_op_view v = net_op_view(net, 0, i);
    char name[OP_WIDTH + 1], layers[NET_OP_LAYERS], saved[SAVINGS_TEXT];
    snprintf(name, sizeof name, "%s%s", net_op_name(net, i), v.bf16 ? "_bf16" : "");
    fprintf(out, "%-*s  %-*s  %14" PRIu64 "  %14" PRIu64 "  %s\n", OP_WIDTH, name, width,
            net_op_layers(net, desc, i, layers), flops_written(desc, v.first_layer, v.last_layer),
            v.flops_forward + (v.learns ? v.flops_backward : 0),
            v.savings != 0 ? savings_text(saved, v.savings) : "");
}

static void print_total(FILE *out, const struct net *net, const struct net_desc *desc, int width)
{
    uint64_t written = desc->flops_forward + desc->flops_backward;
    uint64_t done = net_flops_done(net, false) + net_flops_done(net, true);
    fprintf(out, "%-*s  %-*s  %14" PRIu64 "  %14" PRIu64, OP_WIDTH, "total", width, "", written,
            done);
    if (written > 0)
        fprintf(out, "  %.1f %% done", 100.0 * (double)done / (double)written);
    fputc('\n', out);
}

/* Returns whether any op's output has 16-bit values. */
static bool has_narrow_values(const struct net *net)
{
    bool narrow = false;
    for (int i = 0; i < net_ops(net); i++)
        narrow = narrow || net_op_view(net, 0, i).out_bytes == sizeof(uint16_t);
    return narrow;
}

/* Prints the memory that a network needs per image. Leaves out scratch memory, which does not grow
 * with the batch. */
static void print_memory(FILE *out, const struct net *net, enum precision values)
{
    struct net_memory m = net_memory(net);
    fprintf(
        out,
        "memory per image: %.1f KiB of outputs, %.1f KiB kept for backward, %.1f KiB of gradients",
        (double)m.outputs / 1024, (double)m.saved / 1024, (double)m.gradients / 1024);
    if (has_narrow_values(net))
        fprintf(out, "; between convolutions, and before batch norm, outputs are %s",
                names_precisions->names[values]);
    fputc('\n', out);
}

static void print_meanings(FILE *out, unsigned savings)
{
    for (int i = 0; i < SAVINGS; i++)
        if (savings & SAVING_BIT(i))
            fprintf(out, "%s: %s\n", saving_name((enum saving)i), saving_summary((enum saving)i));
    fputs("Neither count includes the gradient of the images, which is never used.\n", out);
}

/* Fills `choices` with the kernels that tuning selects for a run with only one rank. */
static enum status tune(uint8_t *choices, const struct net_desc *desc, const struct config *config,
                        struct net_options options, struct error *e)
{
    struct pool *pool = NULL;
    options.n_max = (int)trainer_batch_alone(config);
    options.threads = (int)config_int(config, OPT_THREADS);
    fp_mode_set();
    gemm_init();
    TRY(pool_create(&pool, options.threads, NULL, fp_mode_set, e));
    enum status status = net_tune(choices, desc, &options, pool, e);
    pool_destroy(pool);
    return status;
}

static enum status make_net(struct net **net, const struct net_desc *desc,
                            const struct config *config, struct net_options *options,
                            struct error *e)
{
    uint8_t *choices;
    TRY(MEM_NEW(choices, (size_t)desc->n_layers, "the choices of kernels", e));
    enum status status = trainer_isa(config, &options->isa, e);
    if (status == OK && trainer_tunes(config))
        status = tune(choices, desc, config, *options, e);
    options->choices = choices;
    THEN(status, net_create(net, desc, options, e));
    options->choices = NULL;
    free(choices);
    return status;
}

static enum status print_net(FILE *out, const struct net_desc *desc, const struct config *config,
                             struct error *e)
{
    struct net_options options = {.plan = (enum plan)config_int(config, OPT_KERNELS),
                                  .values = trainer_values(config),
                                  .n_max = 1,
                                  .threads = 1,
                                  .slots = 1};
    struct net *net = NULL;
    TRY(make_net(&net, desc, config, &options, e));
    int width = widest_layers(net, desc);
    fprintf(out, "%s, plan %s, %s: FLOPs per image, forward and backward\n", desc->name,
            config_text(config, OPT_KERNELS), isa_names()[options.isa]);
    fprintf(out, "%-*s  %-*s  %14s  %14s  %s\n", OP_WIDTH, "op", width, "layers", "as written",
            "done", "saved by");
    for (int i = 0; i < net_ops(net); i++)
        print_op(out, net, desc, i, width);
    print_total(out, net, desc, width);
    print_memory(out, net, options.values);
    if (trainer_tunes(config)) {
        char kernels[KERNELS_TEXT];
        fprintf(out, "tuned on this machine for a batch of %u: %s\n", trainer_batch_alone(config),
                net_kernels_text(net, desc, kernels));
    }
    print_meanings(out, net_savings(net));
    net_destroy(net);
    return OK;
}

enum status plan_print(FILE *out, const struct config *config, struct error *e)
{
    struct net_desc desc = {0};
    enum status status = model_load(&desc, config_text(config, OPT_MODEL), e);
    THEN(status, print_net(out, &desc, config, e));
    net_desc_free(&desc);
    return status;
}
