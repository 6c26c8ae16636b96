/* What may be timed, by name, and the lists of it. */
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "bench/workloads/sweeps/comm/sweep.h"
#include "bench/workloads/sweeps/options.h"

#define RAW_NAME "mpi_allreduce"

/* ---- Names ---- */

static enum status parse_head(const char *option, const char *text, struct operation *o,
                              struct error *e)
{
    const char *names[STRATEGIES + 1] = {RAW_NAME};
    int index;
    memcpy(names + 1, strategy_names(), STRATEGIES * sizeof *names);
    o->is_raw = strcasecmp(text, RAW_NAME) == 0;
    if (!o->is_raw && option_name(option, text, names, STRATEGIES + 1, &index, e) != OK)
        return e->status;
    o->kind = o->is_raw ? STRATEGY_allreduce : (enum strategy_kind)(index - 1);
    return OK;
}

/* An algorithm of what the library sums, else a variant. */
static enum status parse_form(const char *option, const char *text, struct operation *o,
                              struct error *e)
{
    const char *variants[VARIANTS];
    int index;
    if (strategy_flags(o->kind) & STRATEGY_ALGORITHMS) {
        enum status status = option_name(option, text, algorithm_names(), ALGORITHMS, &index, e);
        o->algorithm = (enum allreduce_algorithm)index;
        return status;
    }
    size_t n = strategy_variant_list(o->kind, variants);
    enum status status = option_name(option, text, variants, n, &index, e);
    if (status == OK)
        o->variant = strategy_variant_find(o->kind, text);
    return status;
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
    char words[128];
    *o = (struct operation){.variant = VARIANT_usual};
    if (strlen(text) >= sizeof words)
        return error_set(e, ERR_ARGUMENT, "--%s: '%.64s...' is too long for a name", option, text);
    strcpy(words, text);
    char *rest = words, *head = strsep(&rest, "+");
    char *compressor = rest, *form = head;
    head = strsep(&form, "/");
    enum status status = parse_head(option, head, o, e);
    if (status == OK && form != NULL)
        status = parse_form(option, form, o, e);
    if (status == OK && compressor != NULL)
        status = parse_compressor(option, compressor, o, e);
    return status;
}

static bool names_algorithm(const struct entry *entry)
{
    return (strategy_flags(entry->kind) & STRATEGY_ALGORITHMS) &&
           entry->config.algorithm != ALGORITHM_auto;
}

const char *entry_name(const struct entry *entry, char text[ENTRY_NAME])
{
    const struct strategy_config *config = &entry->config;
    const char *which = names_algorithm(entry)             ? algorithm_names()[config->algorithm]
                        : config->variant != VARIANT_usual ? strategy_variant_name(config->variant)
                                                           : "";
    bool compresses = config->compressor != COMPRESSOR_none;
    snprintf(text, ENTRY_NAME, "%s%s%s%s%s",
             entry->is_raw ? "MPI_Allreduce" : strategy_names()[entry->kind],
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

static struct entry entry_of(const struct sweep_options *o, const struct operation *operation)
{
    struct entry entry = {.is_raw = operation->is_raw,
                          .kind = operation->kind,
                          .config = usual_config(o),
                          .is_right = true};
    entry.config.variant = operation->variant;
    entry.config.algorithm = operation->algorithm;
    entry.config.compressor = operation->compressor;
    return entry;
}

/* Where there are several variants the first, "usual", is one of the others. */
static int add_variants(const struct sweep_options *o, enum strategy_kind kind,
                        struct entry *entries, int n)
{
    const char *names[VARIANTS];
    size_t variants = strategy_variant_list(kind, names);
    for (size_t i = variants > 1 ? 1 : 0; i < variants; i++) {
        const struct operation operation = {.kind = kind,
                                            .variant = strategy_variant_find(kind, names[i])};
        entries[n++] = entry_of(o, &operation);
    }
    return n;
}

static int add_compressed(const struct sweep_options *o, enum strategy_kind kind,
                          struct entry *entries, int n)
{
    for (int c = COMPRESSOR_none + 1; c < COMPRESSORS; c++) {
        const struct operation operation = {
            .kind = kind, .variant = VARIANT_usual, .compressor = (enum compressor_kind)c};
        if ((strategy_flags(kind) & STRATEGY_COMPRESSES) &&
            choice_has(&o->compressors, compressor_names()[c]))
            entries[n++] = entry_of(o, &operation);
    }
    return n;
}

int entries_list(const struct sweep_options *o, struct entry entries[ENTRIES_MAX])
{
    int n = 0;
    for (int a = 0; a < ALGORITHMS; a++) {
        const struct operation operation = {.is_raw = true,
                                            .kind = STRATEGY_allreduce,
                                            .variant = VARIANT_usual,
                                            .algorithm = (enum allreduce_algorithm)a};
        entries[n++] = entry_of(o, &operation);
    }
    for (int kind = 0; kind < STRATEGIES; kind++) {
        if (!choice_has(&o->strategies, strategy_names()[kind]))
            continue;
        n = add_variants(o, (enum strategy_kind)kind, entries, n);
        n = add_compressed(o, (enum strategy_kind)kind, entries, n);
    }
    return n;
}

void entries_compared(const struct sweep_options *o, struct entry pair[2])
{
    for (int i = 0; i < 2; i++)
        pair[i] = entry_of(o, &o->compared[i]);
}
