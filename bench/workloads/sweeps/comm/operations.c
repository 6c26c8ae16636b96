/* Parses and writes the names of operations, and lists the operations to time. */
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "bench/workloads/sweeps/comm/sweep.h"
#include "kernels/base/names.h"

#define RAW_NAME "mpi_allreduce"

/* ---- Names ---- */

/* Returns an operation with the options sync.* of the command line, the default variant and
 * algorithm, and no compressor. */
static struct contender contender_of(const struct sweep_options *o, bool is_raw,
                                     enum strategy_kind kind)
{
    struct contender c = {.is_raw = is_raw, .kind = kind, .is_right = true};
    enum option_id at;
    struct error ignored; /* options_parse has already reported this error */
    (void)config_strategy(&o->config, &c.config, &at, &ignored);
    return c;
}

/* Parses the word after "/" in an operation's name: an algorithm of the MPI library if the strategy
 * calls MPI_Allreduce or MPI_Iallreduce, otherwise a variant. */
static enum status parse_variant(const char *option, const char *text, struct contender *c,
                                 struct error *e)
{
    const char *variants[VARIANTS];
    int index;
    if (strategy_flags(c->kind) & STRATEGY_ALGORITHMS) {
        TRY(option_name(option, text, algorithm_names(), ALGORITHMS, &index, e));
        c->config.algorithm = (enum allreduce_algorithm)index;
        return OK;
    }
    size_t n = strategy_variant_list(c->kind, variants);
    TRY(option_name(option, text, variants, n, &index, e));
    c->config.variant = strategy_variant_find(c->kind, text);
    return OK;
}

static enum status parse_compressor(const char *option, const char *text, struct contender *c,
                                    struct error *e)
{
    int index;
    TRY(option_name(option, text, compressor_names(), COMPRESSORS, &index, e));
    c->config.compressor = (enum compressor_kind)index;
    if (!c->is_raw && (strategy_flags(c->kind) & STRATEGY_COMPRESSES))
        return OK;
    return error_set(e, ERR_ARGUMENT, "--%s: compressor '%s' is not supported by %s", option, text,
                     c->is_raw ? RAW_NAME : strategy_names()[c->kind]);
}

enum status contender_parse(const struct sweep_options *o, const char *option, const char *text,
                            struct contender *c, struct error *e)
{
    const char *names[STRATEGIES + 1] = {RAW_NAME};
    char name[128];
    int index = 0;
    if (strlen(text) >= sizeof name)
        return error_set(e, ERR_ARGUMENT, "--%s: '%.64s...' is too long for a name", option, text);
    strcpy(name, text);
    char *compressor = name, *variant = strsep(&compressor, "+"), *head = strsep(&variant, "/");
    memcpy(names + 1, strategy_names(), STRATEGIES * sizeof *names);
    if (strcasecmp(head, RAW_NAME) != 0)
        TRY(option_name(option, head, names, STRATEGIES + 1, &index, e));
    *c = contender_of(o, index == 0,
                      index == 0 ? STRATEGY_allreduce : (enum strategy_kind)(index - 1));
    if (variant != NULL)
        TRY(parse_variant(option, variant, c, e));
    return compressor != NULL ? parse_compressor(option, compressor, c, e) : OK;
}

static bool names_algorithm(const struct contender *c)
{
    return (strategy_flags(c->kind) & STRATEGY_ALGORITHMS) && c->config.algorithm != ALGORITHM_auto;
}

const char *contender_name(const struct contender *c, char text[CONTENDER_NAME])
{
    const struct strategy_config *config = &c->config;
    const char *which = names_algorithm(c)                 ? algorithm_names()[config->algorithm]
                        : config->variant != VARIANT_usual ? strategy_variant_name(config->variant)
                                                           : "";
    bool compresses = config->compressor != COMPRESSOR_none;
    snprintf(text, CONTENDER_NAME, "%s%s%s%s%s",
             c->is_raw ? "MPI_Allreduce" : strategy_names()[c->kind], which[0] != '\0' ? "/" : "",
             which, compresses ? "+" : "",
             compresses ? compressor_names()[config->compressor] : "");
    return text;
}

/* ---- Lists ---- */

/* Adds all variants of a strategy to the list and returns the list's new length. If the strategy
 * has named variants, skips the name "usual", which is a second name for one of them. */
static int add_variants(const struct sweep_options *o, enum strategy_kind kind,
                        struct contender *all, int n)
{
    const char *names[VARIANTS];
    size_t variants = strategy_variant_list(kind, names);
    for (size_t i = variants > 1 ? 1 : 0; i < variants; i++) {
        all[n] = contender_of(o, false, kind);
        all[n++].config.variant = strategy_variant_find(kind, names[i]);
    }
    return n;
}

static int add_compressed(const struct sweep_options *o, enum strategy_kind kind,
                          struct contender *all, int n)
{
    bool compresses = (strategy_flags(kind) & STRATEGY_COMPRESSES) != 0;
    for (int k = COMPRESSOR_none + 1; compresses && k < COMPRESSORS; k++) {
        if (!sweep_list_has(&o->config.values[SWEEP_COMPRESSORS], compressor_names()[k]))
            continue;
        all[n] = contender_of(o, false, kind);
        all[n++].config.compressor = (enum compressor_kind)k;
    }
    return n;
}

int contenders_list(const struct sweep_options *o, struct contender contenders[CONTENDERS_MAX])
{
    int n = 0;
    for (int a = 0; a < ALGORITHMS; a++) {
        contenders[n] = contender_of(o, true, STRATEGY_allreduce);
        contenders[n++].config.algorithm = (enum allreduce_algorithm)a;
    }
    for (int kind = 0; kind < STRATEGIES; kind++) {
        if (!sweep_list_has(&o->config.values[SWEEP_STRATEGIES], strategy_names()[kind]))
            continue;
        n = add_variants(o, (enum strategy_kind)kind, contenders, n);
        n = add_compressed(o, (enum strategy_kind)kind, contenders, n);
    }
    return n;
}

/* Returns an operation's configuration, completed by p->rows and the node of each rank. */
static struct strategy_config config_of(const struct sweep *s, const struct problem *p,
                                        const struct contender *c)
{
    struct strategy_config config = c->config;
    config.rows = p->rows;
    config.node_of = s->node_of;
    return config;
}

static const size_t *counts_of(const struct problem *p, const struct contender *c)
{
    return c->is_raw ? &p->desc->n_params : p->counts;
}

static size_t tensors_of(const struct problem *p, const struct contender *c)
{
    return c->is_raw ? 1 : (size_t)p->desc->n_tensors;
}

struct cost contender_cost(const struct sweep *s, const struct problem *p,
                           const struct contender *c)
{
    const struct strategy_config config = config_of(s, p, c);
    return strategy_cost(c->kind, &config, s->rank, s->ranks, counts_of(p, c), tensors_of(p, c),
                         sizeof(real));
}

double addition_s(const struct sweep *s, double bytes)
{
    const struct addition *upper = s->additions;
    while (upper < s->additions + ADDITIONS - 1 && bytes > upper->bytes)
        upper++;
    if (upper == s->additions || bytes > upper->bytes)
        return upper->seconds * bytes / upper->bytes;
    const struct addition *lower = upper - 1;
    double at = (bytes - lower->bytes) / (upper->bytes - lower->bytes);
    return (1 - at) * lower->seconds + at * upper->seconds;
}

enum status contender_model_s(double *seconds, const struct sweep *s, const struct problem *p,
                              const struct contender *c, struct error *e)
{
    const struct strategy_config config = config_of(s, p, c);
    struct sweep_machine machine = sweep_machine_of(&s->link, s->ranks);
    struct clock_sweep clocks;
    machine.hosts.node_of = s->node_of;
    enum status status = clock_sweep_open(&clocks, &machine, s->ranks, e);
    if (status == OK) {
        uint64_t steps = program_read(c->kind, &config, s->ranks, counts_of(p, c), tensors_of(p, c),
                                      sizeof(real), &clocks.reader);
        *seconds = clock_sweep_latest_s(&clocks) / (double)steps;
    }
    clock_sweep_close(&clocks);
    return status;
}
