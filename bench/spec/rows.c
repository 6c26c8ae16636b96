/* What the tables of sites, workloads, data sets, ways of reading and optimizers say of the row that a spec
 * chose, besides its name. */
#include <string.h>

#include "bench/spec/spec.h"

const struct site_row *config_site(const struct config *config)
{
    static const struct site_row rows[SITES] = {
#define SITE(name, kind, shares_cores, summary) {kind, shares_cores},
#include "bench/spec/sites.def"
    };
    return &rows[config_int(config, OPT_SITE)];
}

const char *config_kind(const struct config *config)
{
    bool made_up = config_site(config)->shares_cores;
    if (!config_replays(config))
        return config_site(config)->kind;
    return made_up ? "emulated and replayed" : "replayed";
}

const struct workload_row *config_workload(const struct config *config)
{
    static const struct workload_row rows[WORKLOADS] = {
#define WORKLOAD(name, helper, foreign, summary) {#name, helper, foreign},
#include "bench/spec/workloads.def"
    };
    return &rows[config_int(config, OPT_WORKLOAD)];
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

bool config_takes_norms(const struct config *config)
{
    static const bool rows[] = {
#define OPTIMIZER(name, norms, summary) norms,
#include "kernels/desc/optimizers.def"
    };
    return rows[config_int(config, OPT_OPTIMIZER)];
}
