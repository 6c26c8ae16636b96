/* What may be timed, by name, and the lists of it. */
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "bench/workloads/sweeps/comm/sweep.h"

#define RAW_NAME "mpi_allreduce"

const char *const *wait_names(void)
{
    static const char *const names[] = {
        [WAIT_BLOCK] = "block", [WAIT_POLL] = "poll", [WAIT_YIELD] = "yield"};
    return names;
}

/* ---- Names ---- */

static enum status parse_head(const char *option, const char *text, struct operation *o,
                              struct error *e)
{
    const char *names[STRATEGIES + 1] = {RAW_NAME};
    int index;
    memcpy(names + 1, strategy_names(), STRATEGIES * sizeof *names);
    o->is_raw = strcasecmp(text, RAW_NAME) == 0;
    o->kind = STRATEGY_allreduce;
    if (o->is_raw)
        return OK;
    TRY(option_name(option, text, names, STRATEGIES + 1, &index, e));
    o->kind = (enum strategy_kind)(index - 1);
    return OK;
}

/* An algorithm of what the library sums, else a variant. */
static enum status parse_variant(const char *option, const char *text, struct operation *o,
                                 struct error *e)
{
    const char *variants[VARIANTS];
    int index;
    if (strategy_flags(o->kind) & STRATEGY_ALGORITHMS) {
        TRY(option_name(option, text, algorithm_names(), ALGORITHMS, &index, e));
        o->algorithm = (enum allreduce_algorithm)index;
        return OK;
    }
    size_t n = strategy_variant_list(o->kind, variants);
    TRY(option_name(option, text, variants, n, &index, e));
    o->variant = strategy_variant_find(o->kind, text);
    return OK;
}

static enum status parse_compressor(const char *option, const char *text, struct operation *o,
                                    struct error *e)
{
    int index;
    TRY(option_name(option, text, compressor_names(), COMPRESSORS, &index, e));
    o->compressor = (enum compressor_kind)index;
    if (!o->is_raw && (strategy_flags(o->kind) & STRATEGY_COMPRESSES))
        return OK;
    return error_set(e, ERR_ARGUMENT, "--%s: %s takes no compressor, not '%s'", option,
                     o->is_raw ? RAW_NAME : strategy_names()[o->kind], text);
}

enum status operation_parse(const char *option, const char *text, struct operation *o,
                            struct error *e)
{
    char name[128];
    *o = (struct operation){.variant = VARIANT_usual};
    if (strlen(text) >= sizeof name)
        return error_set(e, ERR_ARGUMENT, "--%s: '%.64s...' is too long for a name", option, text);
    strcpy(name, text);
    char *compressor = name, *variant = strsep(&compressor, "+"), *head = strsep(&variant, "/");
    TRY(parse_head(option, head, o, e));
    if (variant != NULL)
        TRY(parse_variant(option, variant, o, e));
    return compressor != NULL ? parse_compressor(option, compressor, o, e) : OK;
}

static bool names_algorithm(const struct contender *contender)
{
    return (strategy_flags(contender->kind) & STRATEGY_ALGORITHMS) &&
           contender->config.algorithm != ALGORITHM_auto;
}

const char *contender_name(const struct contender *contender, char text[CONTENDER_NAME])
{
    const struct strategy_config *config = &contender->config;
    const char *which = names_algorithm(contender)         ? algorithm_names()[config->algorithm]
                        : config->variant != VARIANT_usual ? strategy_variant_name(config->variant)
                                                           : "";
    bool compresses = config->compressor != COMPRESSOR_none;
    snprintf(text, CONTENDER_NAME, "%s%s%s%s%s",
             contender->is_raw ? "MPI_Allreduce" : strategy_names()[contender->kind],
             which[0] != '\0' ? "/" : "", which, compresses ? "+" : "",
             compresses ? compressor_names()[config->compressor] : "");
    return text;
}

/* ---- Lists ---- */

/* What options of strategies say, of the usual variant, algorithm and no compressor. */
static struct strategy_config usual_config(const struct sweep_options *o)
{
    struct strategy_config config;
    enum option_id at;
    struct error ignored; /* options_parse has seen it */
    (void)config_strategy(&o->config, &config, &at, &ignored);
    return config;
}

static struct contender contender_of(const struct sweep_options *o,
                                     const struct operation *operation)
{
    struct contender contender = {.is_raw = operation->is_raw,
                                  .kind = operation->kind,
                                  .config = usual_config(o),
                                  .is_right = true};
    contender.config.variant = operation->variant;
    contender.config.algorithm = operation->algorithm;
    contender.config.compressor = operation->compressor;
    return contender;
}

/* Where there are several variants the first, "usual", is one of the others. */
static int add_variants(const struct sweep_options *o, enum strategy_kind kind,
                        struct contender *contenders, int n)
{
    const char *names[VARIANTS];
    size_t variants = strategy_variant_list(kind, names);
    for (size_t i = variants > 1 ? 1 : 0; i < variants; i++) {
        const struct operation operation = {.kind = kind,
                                            .variant = strategy_variant_find(kind, names[i])};
        contenders[n++] = contender_of(o, &operation);
    }
    return n;
}

static int add_compressed(const struct sweep_options *o, enum strategy_kind kind,
                          struct contender *contenders, int n)
{
    for (int c = COMPRESSOR_none + 1; c < COMPRESSORS; c++) {
        const struct operation operation = {
            .kind = kind, .variant = VARIANT_usual, .compressor = (enum compressor_kind)c};
        if ((strategy_flags(kind) & STRATEGY_COMPRESSES) &&
            choice_has(&o->compressors, compressor_names()[c]))
            contenders[n++] = contender_of(o, &operation);
    }
    return n;
}

int contenders_list(const struct sweep_options *o, struct contender contenders[CONTENDERS_MAX])
{
    int n = 0;
    for (int a = 0; a < ALGORITHMS; a++) {
        const struct operation operation = {.is_raw = true,
                                            .kind = STRATEGY_allreduce,
                                            .variant = VARIANT_usual,
                                            .algorithm = (enum allreduce_algorithm)a};
        contenders[n++] = contender_of(o, &operation);
    }
    for (int kind = 0; kind < STRATEGIES; kind++) {
        if (!choice_has(&o->strategies, strategy_names()[kind]))
            continue;
        n = add_variants(o, (enum strategy_kind)kind, contenders, n);
        n = add_compressed(o, (enum strategy_kind)kind, contenders, n);
    }
    return n;
}

void contenders_compared(const struct sweep_options *o, struct contender pair[2])
{
    for (int i = 0; i < 2; i++)
        pair[i] = contender_of(o, &o->compared[i]);
}

struct cost contender_cost(const struct sweep *s, const struct problem *p,
                           const struct contender *contender)
{
    const size_t all = p->desc->n_params;
    struct strategy_config config = contender->config;
    config.rows = p->rows;
    return strategy_cost(
        contender->kind, &config, s->rank, s->ranks, contender->is_raw ? &all : p->counts,
        contender->is_raw ? 1 : (size_t)p->desc->n_tensors, sizeof(real), &s->link);
}
