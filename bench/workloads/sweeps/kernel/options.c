#include <string.h>

#include "bench/spec/spec.h"
#include "bench/workloads/sweeps/arguments.h"
#include "bench/workloads/sweeps/kernel/sweep.h"

const char *plan_name(enum plan plan)
{
    return names_plans->names[plan];
}

static enum status take_part(void *options, const char *text, struct error *e)
{
    struct sweep_options *o = options;
    static const char *const names[] = {"all", "ops", "layers"};
    int index;
    TRY(option_name("part", text, names, sizeof names / sizeof *names, &index, e));
    o->ops = index != 2;
    o->layers = index != 1;
    return OK;
}

static enum status take_plans(void *options, const char *text, struct error *e)
{
    struct sweep_options *o = options;
    struct choice list;
    TRY(option_choice("plan", text, &list, e));
    if (list.n > PLANS_MAX)
        return error_set(e, ERR_ARGUMENT, "--plan: at most %d plans", PLANS_MAX);
    for (o->n_plans = 0; o->n_plans < list.n; o->n_plans++) {
        int index;
        TRY(option_name("plan", list.names[o->n_plans], names_plans->names, names_plans->n, &index,
                        e));
        o->plans[o->n_plans] = (enum plan)index;
    }
    return OK;
}

static enum status add_isa(struct sweep_options *o, const char *name, struct error *e)
{
    int index;
    TRY(option_name("isa", name, isa_names(), ISAS, &index, e));
    if (index > (int)isa_best_bf16())
        return error_set(e, ERR_ARGUMENT, "--isa: this processor has no '%s'; it has up to '%s'",
                         name, isa_names()[isa_best_bf16()]);
    o->isas[o->n_isas++] = (enum isa)index;
    return OK;
}

static enum status take_isas(void *options, const char *text, struct error *e)
{
    struct sweep_options *o = options;
    struct choice list;
    o->n_isas = strcmp(text, "auto") == 0;
    if (o->n_isas == 1)
        return isa_choose(&o->isas[0], false, e);
    TRY(option_choice("isa", text, &list, e));
    if (list.n > ISAS_MAX)
        return error_set(e, ERR_ARGUMENT, "--isa: at most %d instruction sets", ISAS_MAX);
    for (int i = 0; i < list.n; i++)
        TRY(add_isa(o, list.names[i], e));
    return OK;
}

static enum status take_layer(void *options, const char *text, struct error *e)
{
    ((struct sweep_options *)options)->layer = strcmp(text, "all") == 0 ? NULL : text;
    return OK;
}

static enum status take_spoil(void *options, const char *text, struct error *e)
{
    ((struct sweep_options *)options)->spoil = strcmp(text, "none") == 0 ? NULL : text;
    return OK;
}

static enum status take_batch(void *options, const char *text, struct error *e)
{
    return option_count("batch", text, 65536, &((struct sweep_options *)options)->batch, e);
}

static enum status take_repeats(void *options, const char *text, struct error *e)
{
    return option_count("repeats", text, 100000, &((struct sweep_options *)options)->repeats, e);
}

#define AT(field) offsetof(struct sweep_options, field)
static const struct option_row OPTIONS[] = {
    {"model", "NAME", "a network or model file", NULL, AT(model)},
    {"batch", "N", "images of a call (128)", take_batch, 0},
    {"layer", "NAME", "only what covers this layer (all)", take_layer, 0},
    {"part", "NAME", "ops (of the plan, and the whole net), layers (each by itself) or all (all)",
     take_part, 0},
    {"plan", "A[,B]",
     "fast, exact or reference (fast); two are timed in the same rounds and compared", take_plans,
     0},
    {"repeats", "N", "timed calls (15)", take_repeats, 0},
    {"isa", "A[,B]",
     "portable, avx2, avx512, avx512_bf16, amx_bf16 or auto, the most of the first three that the "
     "processor has (auto); two are timed as two plans are",
     take_isas, 0},
    {"spoil", "NAME", "makes this layer's results wrong, to see that verdicts notice (none)",
     take_spoil, 0},
    {"record", "DIR", "write DIR/kernels.csv instead of standard output", NULL, AT(record)},
    {"help", NULL, "this text", NULL, AT(help)},
};
#undef AT
enum { OPTIONS_N = sizeof OPTIONS / sizeof *OPTIONS };

void options_help(FILE *out)
{
    fputs("Times every op of a compiled plan and every layer by itself, forward and backward, and\n"
          "compares them with the reference plan and with what this core can do. A row of CSV for\n"
          "each; exit status 1 when a result is further from the reference than rounding "
          "explains.\n"
          "configs/kernels.yaml runs it for every network.\n\n",
          out);
    options_print(out, OPTIONS, OPTIONS_N);
}

enum status options_parse(struct sweep_options *o, int argc, char **argv, struct error *e)
{
    *o = (struct sweep_options){.plans = {PLAN_FAST},
                                .n_plans = 1,
                                .ops = true,
                                .layers = true,
                                .batch = 128,
                                .repeats = 15};
    TRY(take_isas(o, "auto", e));
    TRY(options_take(argc, argv, OPTIONS, OPTIONS_N, o, e));
    if (o->model == NULL && !o->help)
        return error_set(e, ERR_ARGUMENT,
                         "--model is missing: a name from configs/models or a model file");
    if (o->n_plans * o->n_isas > LANES_MAX)
        return error_set(e, ERR_ARGUMENT, "--plan and --isa: two of one or of the other");
    return OK;
}
