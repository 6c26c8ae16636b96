#include <string.h>

#include "bench/workloads/sweeps/arguments.h"
#include "bench/workloads/sweeps/kernel/sweep.h"
#include "kernels/base/names.h"

enum { PART_ALL, PART_OPS, PART_LAYERS, PART_LIMITS, PARTS };
static const char *const part_names[PARTS] = {"all", "ops", "layers", "limits"};
static const struct enumeration parts = {"parts", PARTS, part_names, NULL};

static const char *const precision_names[] = {"fp32", "bf16"}; /* in the order of precisions.def */
static const struct enumeration precisions = {"precisions", 2, precision_names, NULL};

static const struct spec_option ROWS[] = {
#define OPTION SWEEP_OPTION_ROW
#include "bench/workloads/sweeps/kernel/options.def"
};
enum { ROWS_N = sizeof ROWS / sizeof *ROWS };

const char *plan_name(enum plan plan)
{
    return names_plans->names[plan];
}

static enum status check_number(const struct value *list, const char *option, int most,
                                struct error *e)
{
    return list->n >= 1 && list->n <= (unsigned)most
               ? OK
               : error_set(e, ERR_ARGUMENT, "%s: found %u names, expected 1..%d", option, list->n,
                           most);
}

static enum status fill_plans(struct sweep_options *o, struct error *e)
{
    const struct value *list = &o->config.values[SWEEP_PLANS];
    TRY(check_number(list, "--plan", PLANS_MAX, e));
    for (; o->n_plans < (int)list->n; o->n_plans++)
        o->plans[o->n_plans] =
            (enum plan)name_index(list->texts[o->n_plans], names_plans->names, names_plans->n);
    return OK;
}

/* Sets *isa to the instruction set that --isa requests by `name`. names_isas lists auto, then the
 * names in the order of enum isa. ERR_ARGUMENT if the processor does not support the set. */
static enum status fill_isa(const char *name, bool bf16, enum isa *isa, struct error *e)
{
    int index = name_index(name, names_isas->names, names_isas->n);
    if (index == 0)
        return isa_choose(isa, bf16, e);
    *isa = (enum isa)(index - 1);
    return *isa <= isa_best_bf16()
               ? OK
               : error_set(e, ERR_ARGUMENT,
                           "--isa: '%s' is not supported by this processor; expected at most '%s'",
                           name, isa_names()[isa_best_bf16()]);
}

static enum status fill_isas(struct sweep_options *o, struct error *e)
{
    const struct value *list = &o->config.values[SWEEP_ISAS];
    TRY(check_number(list, "--isa", ISAS_MAX, e));
    for (; o->n_isas < (int)list->n; o->n_isas++)
        TRY(fill_isa(list->texts[o->n_isas], o->precision == PRECISION_bf16, &o->isas[o->n_isas],
                     e));
    return OK;
}

void options_help(FILE *out)
{
    fputs("Times every op of a compiled plan and every layer alone, forward and backward, and "
          "compares\n"
          "them with the reference plan and with the peaks of this core. Prints a CSV row for "
          "each. The\n"
          "exit status is 1 if rounding cannot explain a difference from the reference.\n"
          "configs/kernels.yaml runs it for every network.\n\n",
          out);
    sweep_options_print(out, ROWS, ROWS_N);
}

enum status options_parse(struct sweep_options *o, int argc, char **argv, struct error *e)
{
    *o = (struct sweep_options){.help = false};
    TRY(config_init(&o->config, e));
    TRY(sweep_options_take(&o->config, ROWS, ROWS_N, argc, argv, &o->help, e));
    o->model = sweep_text_but(&o->config, SWEEP_MODEL, "");
    o->layer = sweep_text_but(&o->config, SWEEP_LAYER, "all");
    o->spoil = sweep_text_but(&o->config, SWEEP_SPOIL, "none");
    o->record = sweep_text_but(&o->config, SWEEP_RECORD, "");
    o->batch = (int)sweep_number(&o->config, SWEEP_BATCH);
    o->repeats = (int)sweep_number(&o->config, SWEEP_REPEATS);
    int part = (int)sweep_number(&o->config, SWEEP_PART);
    o->ops = part != PART_LAYERS;
    o->layers = part == PART_ALL || part == PART_LAYERS;
    o->limits = part == PART_LIMITS;
    o->precision = (enum precision)sweep_number(&o->config, SWEEP_PRECISION);
    TRY(fill_plans(o, e));
    TRY(fill_isas(o, e));
    if (o->model == NULL && !o->help)
        return error_set(e, ERR_ARGUMENT,
                         "--model is missing: expected a name from configs/models or a model file");
    return o->n_plans * o->n_isas <= LANES_MAX
               ? OK
               : error_set(e, ERR_ARGUMENT,
                           "--plan and --isa: expected at most two combinations of a plan and an "
                           "instruction set. Name fewer plans or instruction sets");
}
