#include <string.h>

#include "bench/spec/spec.h"
#include "bench/workloads/sweeps/kernel/sweep.h"
#include "bench/workloads/sweeps/options.h"

static const struct option known[] = {
    {"model", required_argument, NULL, 'm'}, {"batch", required_argument, NULL, 'b'},
    {"layer", required_argument, NULL, 'l'}, {"part", required_argument, NULL, 't'},
    {"plan", required_argument, NULL, 'p'},  {"repeats", required_argument, NULL, 'r'},
    {"isa", required_argument, NULL, 'i'},   {"spoil", required_argument, NULL, 's'},
    {"help", no_argument, NULL, 'h'},        {NULL, 0, NULL, 0},
};

const char *plan_name(enum plan plan)
{
    return names_plans->names[plan];
}

void options_help(FILE *out)
{
    fputs("Times every op of a compiled plan and every layer by itself, forward and backward, and\n"
          "compares them with the reference plan and with what this core can do. CSV on standard\n"
          "output; exit status 1 when a result is further from the reference than rounding "
          "explains.\n"
          "\n"
          "  --model NAME    a network or model file (default: all of configs/models)\n"
          "  --batch N       images of a call (128)\n"
          "  --layer NAME    only what covers this layer\n"
          "  --part NAME     ops (of the plan, and the whole net), layers (each by itself) or all "
          "(all)\n"
          "  --plan A[,B]    fast, exact or reference (fast); two are timed in turns and compared\n"
          "  --repeats N     timed calls (15)\n"
          "  --isa NAME      portable, avx2 or avx512 (the most that the processor has)\n"
          "  --spoil NAME    makes this layer's results wrong, to see that verdicts notice\n"
          "  --help          this text\n\n"
          "Columns:\n",
          out);
    rows_print_columns(out);
}

static enum status parse_part(struct sweep_options *o, const char *text, struct error *e)
{
    static const char *const names[] = {"all", "ops", "layers"};
    int index;
    TRY(option_name("part", text, names, sizeof names / sizeof *names, &index, e));
    o->ops = index != 2;
    o->layers = index != 1;
    return OK;
}

static enum status parse_plans(struct sweep_options *o, const char *text, struct error *e)
{
    o->n_plans = 0;
    for (;;) {
        char word[32];
        int index, length = (int)strcspn(text, ",");
        snprintf(word, sizeof word, "%.*s", length, text);
        if (o->n_plans == PLANS_MAX)
            return error_set(e, ERR_ARGUMENT, "--plan: at most %d plans", PLANS_MAX);
        TRY(option_name("plan", word, names_plans->names, names_plans->n, &index, e));
        o->plans[o->n_plans++] = (enum plan)index;
        text += length;
        if (*text++ == '\0')
            return OK;
    }
}

static enum status parse_isa(struct sweep_options *o, const char *text, struct error *e)
{
    int index;
    TRY(option_name("isa", text, isa_names(), ISAS, &index, e));
    if (index > (int)isa_best())
        return error_set(e, ERR_ARGUMENT, "--isa: this processor has no '%s'; it has up to '%s'",
                         text, isa_names()[isa_best()]);
    o->isa = (enum isa)index;
    return OK;
}

static enum status take(void *arg, int letter, const char *value, struct error *e)
{
    enum { BATCH_MAX = 65536, REPEATS_MAX = 100000 };
    struct sweep_options *o = arg;
    switch (letter) {
    case 'm':
        o->model = value;
        return OK;
    case 'b':
        return option_count("batch", value, BATCH_MAX, &o->batch, e);
    case 'l':
        o->layer = value;
        return OK;
    case 't':
        return parse_part(o, value, e);
    case 'p':
        return parse_plans(o, value, e);
    case 'r':
        return option_count("repeats", value, REPEATS_MAX, &o->repeats, e);
    case 'i':
        return parse_isa(o, value, e);
    case 's':
        o->spoil = value;
        return OK;
    default:
        o->help = true;
        return OK;
    }
}

enum status options_parse(struct sweep_options *o, int argc, char **argv, struct error *e)
{
    *o = (struct sweep_options){.plans = {PLAN_FAST},
                                .n_plans = 1,
                                .ops = true,
                                .layers = true,
                                .batch = 128,
                                .repeats = 15};
    enum status status = isa_choose(&o->isa, e);
    return status == OK ? options_walk(argc, argv, known, take, o, e) : status;
}
