/* Looks up the sites, workloads, data sets, ways of reading data and optimizers that a spec has
 * chosen. */
#include <string.h>

#include "bench/spec/matrix.h"
#include "bench/spec/spec.h"
#include "kernels/base/names.h"

bool config_concerns(const struct config *config, enum option_id option)
{
    bool of_hosts = option == OPT_SITE_HOSTS || option == OPT_SITE_RATE || option == OPT_SITE_DELAY;
    bool of_model = option == OPT_SITE_LINK || option == OPT_SITE_LEAF_HOSTS ||
                    option == OPT_SITE_OVERSUBSCRIPTION || option == OPT_SITE_MODEL;
    return (!of_hosts || config_site(config)->shares_cores) &&
           (!of_model || config_is_simulated(config));
}

/* Returns whether the program reads an option. A user's program reads no workload options but seed
 * and threads. Batch sizes count as read: the runner computes images per step from them. */
bool config_reads(const struct config *config, enum option_id option)
{
    return !config_is_foreign(config) || !scope_is_workload(option_get(option)->scope) ||
           option == OPT_THREADS || option == OPT_SEED || option == OPT_GLOBAL_BATCH ||
           option == OPT_BATCH_PER_RANK;
}

const struct site_row *config_site(const struct config *config)
{
    static const struct site_row rows[SITES] = {
#define SITE(name, kind, shares_cores, summary) {kind, shares_cores},
#include "bench/spec/sites.def"
    };
    return &rows[config_int(config, OPT_SITE)];
}

bool config_runs_here(const struct config *c)
{
    return config_int(c, OPT_SITE) == SITE_local || config_site(c)->shares_cores;
}

const char *config_kind(const struct config *config)
{
    bool emulated = config_site(config)->shares_cores;
    if (!config_replays(config) || config_is_simulated(config))
        return config_site(config)->kind;
    return emulated ? "emulated and replayed" : "replayed";
}

const char *config_kind_trained(const struct config *config)
{
    return config_site(config)->kind;
}

static const struct workload_row workloads[WORKLOADS] = {
#define WORKLOAD(name, helper, foreign, strategies, summary) {#name, helper, strategies, foreign},
#include "bench/spec/workloads.def"
};

const struct workload_row *config_workload(const struct config *config)
{
    return &workloads[config_int(config, OPT_WORKLOAD)];
}

const struct workload_row *workload_find(const char *name)
{
    for (size_t i = 0; i < WORKLOADS; i++)
        if (strcmp(workloads[i].name, name) == 0)
            return &workloads[i];
    return NULL;
}

enum status workload_check_strategy(const struct workload_row *row, const char *strategy,
                                    struct error *e)
{
    if (row->strategies[0] == '\0' || name_is_word(row->strategies, strategy))
        return OK;
    return error_set(e, ERR_ARGUMENT, "sync.strategy: '%s' is not supported by %s; supported: %s",
                     strategy, row->name, row->strategies);
}

const char *spec_title(const struct spec *spec)
{
    const char *title = config_text(&spec->config, OPT_TITLE);
    return strcmp(title, option_get(OPT_TITLE)->preset) != 0 ? title : NULL;
}

const char *spec_title_of_set(const struct spec *spec)
{
    const char *title = spec_title(spec);
    return title != NULL && mark_from_set(spec->config.values[OPT_TITLE].mark) ? title : "";
}

const char *spec_foreign(const struct spec *spec)
{
    for (size_t i = 0; i < spec->n_points; i++)
        if (!config_is_foreign(&spec->points[i].config))
            return NULL;
    return spec->n_points > 0 ? spec->points[0].config.values[OPT_COMMAND].texts[0] : NULL;
}

static const struct data_set_row data_sets[DATA_SETS] = {
#define DATA_SET(name, source, c, h, w, train, test, classes, names, summary)                      \
    {#name, DATA_##source, {c, h, w}, train, test, classes, names},
#include "bench/spec/data_sets.def"
};

const struct data_set_row *config_data_set(const struct config *config)
{
    return &data_sets[config_int(config, OPT_DATA_SET)];
}

const struct data_set_row *data_set_find(const char *name)
{
    for (size_t i = 0; i < DATA_SETS; i++)
        if (strcmp(data_sets[i].name, name) == 0)
            return &data_sets[i];
    return NULL;
}

bool config_reads_in_step(const struct config *config)
{
    static const bool rows[READ_KINDS] = {
#define DATA_READ(name, in_step, summary) in_step,
#include "bench/spec/data_reads.def"
    };
    return rows[config_int(config, OPT_DATA_READ)];
}

static const struct {
    bool norms;
    int slots;
} optimizers[] = {
#define OPTIMIZER(name, norms, slots, summary) {norms, slots},
#include "kernels/desc/optimizers.def"
};

bool config_takes_norms(const struct config *config)
{
    return optimizers[config_int(config, OPT_OPTIMIZER)].norms;
}

int config_state_slots(const struct config *config)
{
    return optimizers[config_int(config, OPT_OPTIMIZER)].slots;
}
