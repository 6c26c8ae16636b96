#include <stdlib.h>
#include <string.h>

#include "bench/workloads/sweeps/comm/sweep.h"

#define SIZE_LEAST 4
#define SIZE_MOST  ((size_t)1 << 32) /* a call counts numbers in an int */

#define SWEEP(pointer) ((struct sweep_options *)(pointer))

static enum status parse_size(const char *option, const char *text, size_t least, size_t most,
                              size_t *bytes, struct error *e)
{
    static const struct {
        const char *name;
        size_t factor;
    } units[] = {{"B", 1}, {"KiB", 1 << 10}, {"MiB", 1 << 20}, {"GiB", 1 << 30}};
    char *end;
    unsigned long long n = strtoull(text, &end, 10);
    for (size_t i = 0; i < 4; i++) {
        if (end == text || text[0] == '-' || strcmp(end, units[i].name) != 0)
            continue;
        *bytes = (size_t)n * units[i].factor;
        if (n <= most / units[i].factor && *bytes >= least)
            return OK;
    }
    return error_set(e, ERR_ARGUMENT,
                     "--%s: '%s' is no size of %zuB..%zuGiB: a whole number and B, KiB, MiB or "
                     "GiB, as 64KiB",
                     option, text, least, most >> 30);
}

/* A size begins with a digit. */
static enum status take_gradients(void *options, const char *text, struct error *e)
{
    struct sweep_options *o = options;
    o->gradients = text;
    o->bytes = 0;
    return text[0] >= '0' && text[0] <= '9'
               ? parse_size("gradients", text, SIZE_LEAST, SIZE_MOST, &o->bytes, e)
               : OK;
}

static enum status take_strategies(void *options, const char *text, struct error *e)
{
    return option_choice_of("strategies", text, strategy_names(), STRATEGIES,
                            &SWEEP(options)->strategies, e);
}

static enum status take_compressors(void *options, const char *text, struct error *e)
{
    return option_choice_of("compress", text, compressor_names(), COMPRESSORS,
                            &SWEEP(options)->compressors, e);
}

static enum status take_compared(void *options, const char *text, struct error *e)
{
    struct sweep_options *o = options;
    struct choice list;
    o->compares = strcmp(text, "none") != 0;
    if (!o->compares)
        return OK;
    TRY(option_choice("compare", text, &list, e));
    if (list.n != 2)
        return error_set(e, ERR_ARGUMENT,
                         "--compare: '%s': two operations are expected, as shm,mpi_allreduce",
                         text);
    for (int i = 0; i < 2; i++)
        TRY(contender_parse(o, "compare", list.names[i], &o->compared[i], e));
    return OK;
}

static enum status take_rounds(void *options, const char *text, struct error *e)
{
    return option_count("turns", text, 100000, &SWEEP(options)->rounds, e);
}

static enum status take_wait(void *options, const char *text, struct error *e)
{
    struct sweep_options *o = options;
    int index;
    o->wait_is_set = strcmp(text, "auto") != 0;
    if (!o->wait_is_set)
        return OK;
    TRY(option_name("wait", text, wait_names(), WAIT_YIELD + 1, &index, e));
    o->wait = (enum wait_kind)index;
    return OK;
}

static enum status take_memory(void *options, const char *text, struct error *e)
{
    size_t bytes;
    TRY(parse_size("memory", text, 1 << 20, (size_t)1 << 50, &bytes, e));
    SWEEP(options)->memory_bytes = (double)bytes;
    return OK;
}

static enum status take_spoil(void *options, const char *text, struct error *e)
{
    int ignored;
    SWEEP(options)->spoil = text;
    return option_name("spoil", text, strategy_names(), STRATEGIES, &ignored, e);
}

#define INDENT    "\n                       "
#define AT(field) offsetof(struct sweep_options, field)
static const struct option_row OPTIONS[] = {
    {"gradients", "WHAT",
     "a flat tensor of a size, as 64KiB, a network or model file, or link: messages between "
     "the" INDENT "first and the last rank and local sums, whose coefficients are DIR/link.csv",
     take_gradients, 0},
    {"strategies", "A[,B..]", "only these; all, none (all)", take_strategies, 0},
    {"compress", "A[,B..]", "the compressors of strategies that take one; all, none (all)",
     take_compressors, 0},
    {"compare", "A,B",
     "only these two, with each other: mpi_allreduce or a strategy, with /ALGORITHM or" INDENT
     "/VARIANT and +COMPRESSOR behind it, as shm,mpi_allreduce/ring or allreduce+topk,ring (none)",
     take_compared, 0},
    {"turns", "N", "timed rounds, in each of which every operation runs (11)", take_rounds, 0},
    {"wait", "KIND",
     "block, poll, yield or auto: yield where ranks outnumber cores, else block (auto)", take_wait,
     0},
    {"memory", "SIZE",
     "of operations that are timed in the same rounds, all ranks of a node (4GiB)", take_memory, 0},
    {"record", "DIR", "write DIR/comm.csv, of --compare DIR/compare.csv, not standard output", NULL,
     AT(record)},
    {"spoil", "NAME", "makes this strategy's sums wrong, to see that verdicts notice", take_spoil,
     0},
    {"help", NULL, "this text", NULL, AT(help)},
};
#undef AT
enum { OPTIONS_N = sizeof OPTIONS / sizeof *OPTIONS };

void options_help(FILE *out)
{
    fputs(
        "Times every strategy of gradient synchronisation on the ranks of this launch, beside\n"
        "MPI_Allreduce in the same rounds, and checks that what promises a sum gives one. CSV of\n"
        "rank 0; exit status 1 when a verdict is bad. configs/comm.yaml runs it for sizes and\n"
        "networks.\n\n"
        "  mpiexec -n 2 comm_sweep --gradients 64KiB\n\n",
        out);
    options_print(out, OPTIONS, OPTIONS_N);
    fputs("  --sync.KEY VALUE     options of strategies, as in a spec\n", out);
}

/* What the sweep goes through by itself is no option of strategies here. */
static enum status check_config(const struct sweep_options *o, struct error *e)
{
    static const struct {
        enum option_id id;
        const char *instead;
    } swept[] = {{OPT_STRATEGY, "--strategies"},
                 {OPT_sync_zero, "--strategies"},
                 {OPT_COMPRESS, "--compress"},
                 {OPT_VARIANT, "--compare"},
                 {OPT_ALGORITHM, "--compare"}};
    struct strategy_config config;
    enum option_id at;
    for (size_t i = 0; i < sizeof swept / sizeof *swept; i++) {
        const struct spec_option *option = option_get(swept[i].id);
        const char *text = config_text(&o->config, swept[i].id);
        if (strcmp(text, option->preset) != 0)
            return error_set(e, ERR_ARGUMENT,
                             "--%s %s: a sweep goes through all of them; %s picks some",
                             option->key, text, swept[i].instead);
    }
    return config_strategy(&o->config, &config, &at, e);
}

/* A sweep trains nothing. */
static enum status check_group(const struct sweep_options *o, struct error *e)
{
    for (enum option_id id = 0; id < OPT_OWN; id++)
        if (o->config.values[id].set && strncmp(option_get(id)->key, "sync.", 5) != 0)
            return error_set(e, ERR_ARGUMENT,
                             "--%s has no effect on a sweep: expected --sync.KEY; leave it out",
                             option_get(id)->key);
    return OK;
}

static bool is_given(const struct choice *c)
{
    return c->none || c->n > 0;
}

static enum status check_choices(const struct sweep_options *o, struct error *e)
{
    if (o->compares && (is_given(&o->strategies) || is_given(&o->compressors)))
        return error_set(e, ERR_ARGUMENT,
                         "--%s has no effect beside --compare, which names both operations; leave "
                         "one of them out",
                         is_given(&o->strategies) ? "strategies" : "compress");
    if (o->spoil != NULL && !o->compares && !choice_has(&o->strategies, o->spoil))
        return error_set(e, ERR_ARGUMENT, "--spoil: '%s' is not in --strategies; add it there",
                         o->spoil);
    return OK;
}

enum status options_parse(struct sweep_options *o, int argc, char **argv, struct error *e)
{
    *o = (struct sweep_options){.rounds = 11, .memory_bytes = 0x1p32};
    TRY(config_init(&o->config, e));
    TRY(config_parse_arguments(&o->config, &argc, argv, e));
    TRY(check_group(o, e));
    TRY(check_config(o, e));
    TRY(options_take(argc, argv, OPTIONS, OPTIONS_N, o, e));
    if (o->gradients == NULL && !o->help)
        return error_set(e, ERR_ARGUMENT,
                         "--gradients is missing: a size as 64KiB, a network, or link");
    return check_choices(o, e);
}

void options_free(struct sweep_options *o)
{
    config_free(&o->config);
}
