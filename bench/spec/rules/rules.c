#include "bench/spec/rules/rules.h"

#include <ctype.h>
#include <math.h>
#include <string.h>
#include <strings.h>

#include "bench/spec/figures/request.h"
#include "bench/spec/find.h"
#include "bench/spec/foreign.h"
#include "bench/spec/matrix.h"
#include "bench/spec/nodes/compute.h"
#include "bench/spec/nodes/link.h"
#include "bench/spec/points/points.h"
#include "bench/spec/value.h"
#include "bench/spec/yaml/yaml_reader.h"
#include "comm/cost/cost.h"
#include "kernels/base/names.h"
#include "kernels/base/text.h"

enum { TITLE_MAX = 120 };

/* ---- Checks of the campaign ---- */

static enum status missing(const struct spec *spec, enum option_id id, struct error *e)
{
    const struct spec_option *option = option_get(id);
    return mark_error(e, ERR_SPEC, mark_in(spec->path, 1, 1), "%s is missing. %.*s", option->key,
                      text_sentence(option->help), option->help);
}

/* Returns whether a name consists of letters, digits, hyphens, underscores and dots, and begins
 * with a letter or digit. Such a name is neither a path nor an option. */
static bool is_plain_name(const char *name)
{
    for (const char *c = name; *c; c++)
        if (!isalnum((unsigned char)*c) && (c == name || strchr("_-.", *c) == NULL))
            return false;
    return *name != '\0';
}

/* Returns whether the name is reserved for a folder of scalebench: in a campaign's folder, in the
 * folder of all results, or in results/ of the sources. Always false for the spec of command
 * `doctor`. */
static bool is_reserved(const struct spec *spec, const char *name)
{
    static const char *const own[] = {"latest",  "figures",   "doctor",   "collected",
                                      "reports", "reference", "published"};
    const struct value *command = &spec->config.values[OPT_COMMAND];
    return name_index(name, own, sizeof own / sizeof *own) >= 0 &&
           !(command->n > 0 && text_ends(command->texts[0], "/doctor_ranks"));
}

/* Checks the campaign's name, which becomes a folder's name and a field of CSV files. */
static enum status check_name(const struct spec *spec, struct error *e)
{
    const struct value *name = &spec->config.values[OPT_NAME];
    if (!is_plain_name(name->text) || strlen(name->text) > 64)
        return mark_error(
            e, ERR_SPEC, name->mark,
            "name: '%s' cannot name a folder: expected at most 64 letters, digits, _, - and dots, "
            "beginning with a letter or digit",
            name->text);
    if (spec->is_recorded || !is_reserved(spec, name->text))
        return OK;
    return mark_error(e, ERR_SPEC, name->mark,
                      "name: '%s' is reserved for a folder of scalebench. Choose another name",
                      name->text);
}

static enum status check_title(const struct spec *spec, struct error *e)
{
    const struct value *title = &spec->config.values[OPT_TITLE];
    size_t length = strlen(title->text);
    if (length > 0 && length <= TITLE_MAX)
        return OK;
    return mark_error(e, ERR_SPEC, title->mark,
                      "title: expected 1 to %d bytes, found %zu. For no title, leave the key out",
                      TITLE_MAX, length);
}

/* Returns whether a figure needs no measurement: it shows layers of networks or published
 * values. */
static bool is_drawn_unmeasured(const struct figure_request *figure)
{
    return figure->n_sources > 0 || strcmp(figure->options[FIGURE_FILE].text, "layers") == 0;
}

static enum status check_measure(const struct spec *spec, struct error *e)
{
    const struct value *launches = &spec->config.values[OPT_TIME_LAUNCHES];
    const struct value *figures = &spec->config.values[OPT_FIGURES];
    size_t drawn = 0;
    while (drawn < figures->n && is_drawn_unmeasured(&figures->figures[drawn]))
        drawn++;
    if (launches->number_hi > 0 || spec->config.values[OPT_ACCURACY_SEEDS].n > 0 ||
        (drawn > 0 && drawn == figures->n))
        return OK;
    return mark_error(
        e, ERR_SPEC, launches->mark,
        "nothing is measured: measure.time.launches is %s and measure.accuracy.seeds is []. Set "
        "one of these options, or draw only figures of layers.csv or published values",
        launches->text);
}

/* Checks that `baseline` does not change the problem, since a speed-up compares times of one
 * problem. If scaling is none, checks only that `baseline` does not change the network or the data
 * set. */
static enum status check_baseline(const struct spec *spec, const struct matrix *of, struct error *e)
{
    static const enum option_id trained[] = {OPT_MODEL, OPT_DATA_SET, OPT_DATA_PATH};
    for (size_t i = 0; i < sizeof trained / sizeof *trained && of->has_baseline; i++)
        if (of->baseline.config.values[trained[i]].set)
            return mark_error(
                e, ERR_SPEC, of->baseline.config.values[trained[i]].mark,
                "baseline: a speed-up must compare points with the same %s. Leave %s out: each "
                "point then has a baseline with the point's network and data",
                trained[i] == OPT_MODEL ? "network" : "data set", option_get(trained[i])->key);
    if (!of->has_baseline || config_int(&spec->config, OPT_SCALING) == SCALING_none)
        return OK;
    for (size_t i = 0; i < OPTION_COUNT; i++) {
        const struct value *value = &of->baseline.config.values[i];
        const struct spec_option *option = option_get((enum option_id)i);
        if (value->set && option_is_problem(option) && i != OPT_SITE)
            return mark_error(
                e, ERR_SPEC, value->mark,
                "baseline: %s changes the problem, but scaling = %s compares times of the same "
                "problem. Set only site, ranks, nodes, elastic, and options of place, sync, "
                "inject, parallel, compute and checkpoint",
                option->key, config_text(&spec->config, OPT_SCALING));
    }
    return OK;
}

/* Checks that published.file and published.values are given together. */
static enum status check_published(const struct spec *spec, struct error *e)
{
    const struct value *file = &spec->config.values[OPT_PUBLISHED_FILE];
    const struct value *values = &spec->config.values[OPT_PUBLISHED_VALUES];
    bool named = strcmp(file->text, "none") != 0;
    if (named && values->n == 0)
        return mark_error(e, ERR_SPEC, file->mark,
                          "published.values is missing: expected the columns to compare, such as "
                          "[\"step_ms_median = step_s * 1000\"]");
    if (!named && values->n > 0)
        return mark_error(e, ERR_SPEC, values->mark,
                          "published.values needs published.file, which is missing");
    return OK;
}

enum status rules_check_spec(const struct spec *spec, struct error *e)
{
    TRY(check_name(spec, e));
    TRY(check_title(spec, e));
    TRY(check_measure(spec, e));
    TRY(check_published(spec, e));
    for (size_t i = 0; i < spec->matrix->n_cases; i++)
        TRY(check_baseline(spec, &spec->matrix->cases[i], e));
    return check_baseline(spec, spec->matrix, e);
}

/* ---- Checks of points ---- */

/* Turns the error of a failed check into ERR_SPEC with the position of *at, the option to change.
 * Returns OK if `status` is OK. */
static enum status place_error(enum status status, const struct config *config,
                               const enum option_id *at, struct error *e)
{
    return status == OK ? OK : mark_error(e, ERR_SPEC, config->values[*at].mark, "%s", e->text);
}

/* Returns whether a batch size is given. Size 0 means not given. */
static bool is_given(const struct value *batch)
{
    return batch->set && batch->number > 0;
}

static enum status refuse_batch(const struct spec *spec, const struct value *wrong,
                                const char *wrong_key, const char *right_key, struct error *e)
{
    const struct value *scaling = &spec->config.values[OPT_SCALING];
    char place[MARK_TEXT_BYTES];
    return mark_error(e, ERR_SPEC, wrong->mark,
                      "%s is not supported with scaling = %s (%s), which needs %s", wrong_key,
                      scaling->text, mark_text(place, scaling->mark), right_key);
}

/* Checks that a batch size is given, and in the right option. Strong scaling needs
 * train.global_batch. Weak and epoch scaling need train.batch_per_rank. Without scaling, either
 * will do. */
static enum status check_batch_given(const struct spec *spec, const struct point *point,
                                     struct error *e)
{
    static const char global_key[] = "train.global_batch", rank_key[] = "train.batch_per_rank";
    const struct value *global = &point->config.values[OPT_GLOBAL_BATCH];
    const struct value *rank = &point->config.values[OPT_BATCH_PER_RANK];
    long scaling = config_int(&spec->config, OPT_SCALING);
    bool none = scaling == SCALING_none, strong = scaling == SCALING_strong;
    if (is_given(rank) && strong)
        return refuse_batch(spec, rank, rank_key, global_key, e);
    if (is_given(global) && !strong && !none)
        return refuse_batch(spec, global, global_key, rank_key, e);
    if (!is_given(global) && !is_given(rank))
        return mark_error(e, ERR_SPEC, mark_in(spec->path, 1, 1),
                          "a batch size is missing: give %s%s%s", none || strong ? global_key : "",
                          none ? " or " : "", strong ? "" : rank_key);
    return OK;
}

static enum status check_batch_fits(const struct point *point, struct error *e)
{
    const struct value *global = &point->config.values[OPT_GLOBAL_BATCH];
    const struct value *ranks = &point->config.values[OPT_RANKS];
    const struct value *samples = &point->config.values[OPT_DATA_SAMPLES];
    enum option_id at = OPT_GLOBAL_BATCH;
    char place[MARK_TEXT_BYTES];
    if (is_given(global) && config_replicas(&point->config, (long)ranks->number) > global->number)
        return mark_error(
            e, ERR_SPEC, ranks->mark,
            "ranks = %s, but train.global_batch = %s (%s) has less than one image per rank. Use a "
            "larger batch, or fewer ranks, such as --set matrix.ranks=[1,2,4]",
            ranks->text, global->text, mark_text(place, global->mark));
    TRY(place_error(config_check_batch(&point->config, (long)ranks->number, &at, e), &point->config,
                    &at, e));
    double batch = config_images_taken(&point->config);
    if (samples->number > 0 && batch > samples->number && !config_is_simulated(&point->config))
        return mark_error(
            e, ERR_SPEC, samples->mark,
            "data.samples = %s, but one step needs %.0f images over all ranks. Use more samples, "
            "or a smaller %s",
            samples->text, batch,
            option_get(is_given(global) ? OPT_GLOBAL_BATCH : OPT_BATCH_PER_RANK)->key);
    return OK;
}

static enum status check_nodes(const struct point *point, struct error *e)
{
    const struct value *nodes = &point->config.values[OPT_NODES];
    const struct value *ranks = &point->config.values[OPT_RANKS];
    if (nodes->number <= ranks->number)
        return OK;
    return mark_error(e, ERR_SPEC, nodes->mark,
                      "nodes = %s, but ranks = %s: expected at least one rank per node",
                      nodes->text, ranks->text);
}

/* Checks that site.machines lists valid host names, distinct even if case is ignored, and at least
 * one for site ssh. */
static enum status check_machines(const struct point *point, struct error *e)
{
    const struct value *machines = &point->config.values[OPT_SITE_MACHINES];
    if (machines->n == 0 && config_int(&point->config, OPT_SITE) == SITE_ssh)
        return mark_error(e, ERR_SPEC, point->config.values[OPT_SITE].mark,
                          "site: ssh needs machines, but site.machines is []. Use site: {kind: "
                          "ssh, machines: [a, b]}");
    for (size_t i = 0; i < machines->n; i++) {
        if (!is_plain_name(machines->texts[i]))
            return mark_error(e, ERR_SPEC, machines->mark,
                              "site.machines: '%s' is not a host name: expected letters, digits, "
                              "-, _ and dots. Write users and ports into ~/.ssh/config",
                              machines->texts[i]);
        for (size_t k = 0; k < i; k++)
            if (strcasecmp(machines->texts[i], machines->texts[k]) == 0)
                return mark_error(e, ERR_SPEC, machines->mark,
                                  "site.machines: '%s' is listed twice, and each machine is one "
                                  "node. Use ranks_per_node for several ranks on a machine",
                                  machines->texts[i]);
    }
    return OK;
}

/* Checks that a cosine schedule does not end above its initial rate. */
static enum status check_rates(const struct point *point, struct error *e)
{
    const struct value *least = &point->config.values[OPT_LR_MIN];
    const struct value *lr = &point->config.values[OPT_LR];
    if (least->number <= lr->number)
        return OK;
    return mark_error(e, ERR_SPEC, least->mark,
                      "train.lr_min = %s is above train.lr: expected at most %s", least->text,
                      lr->text);
}

/* Checks that frozen statistics of batch norm come from a checkpoint: initial statistics normalise
 * nothing. */
static enum status check_frozen(const struct point *point, struct error *e)
{
    const struct config *c = &point->config;
    const struct value *norm = &c->values[OPT_BATCH_NORM];
    if (norm->number != BATCH_NORM_frozen || c->values[OPT_ACCURACY_SEEDS].n == 0 ||
        !value_is_preset(option_get(OPT_CHECKPOINT_START), &c->values[OPT_CHECKPOINT_START]) ||
        !value_is_preset(option_get(OPT_CHECKPOINT_RESUME), &c->values[OPT_CHECKPOINT_RESUME]))
        return OK;
    return mark_error(e, ERR_SPEC, norm->mark,
                      "train.batch_norm = frozen needs the statistics of a trained network, but "
                      "checkpoint.start is missing. Set checkpoint.start to a file of trained "
                      "weights, or use train.batch_norm: local");
}

/* Checks that checkpoints do not replace the weights from which each run starts. */
static enum status check_start(const struct point *point, struct error *e)
{
    const struct config *c = &point->config;
    const struct value *path = &c->values[OPT_CHECKPOINT_PATH];
    const char *start = config_text(c, OPT_CHECKPOINT_START);
    if (!config_writes_checkpoints(c) ||
        (strcmp(path->text, start) != 0 && !find_is_same(path->text, start)))
        return OK;
    return mark_error(e, ERR_SPEC, path->mark,
                      "checkpoint.path is the file of checkpoint.start, which checkpoints would "
                      "replace. Use another path");
}

/* Options that a simulation does not model, each with its only accepted value. */
static const struct {
    enum option_id option;
    const char *value;
} unsimulated[] = {
    {OPT_COMPUTE, "replay"},  {OPT_PIPELINE, "1"},     {OPT_TENSOR, "1"},
    {OPT_ACCUMULATE, "1"},    {OPT_PRECISION, "fp32"}, {OPT_COMPRESS, "none"},
    {OPT_CLIP_NORM, "0"},     {OPT_DATA_READ, "all"},  {OPT_RESOURCES, "off"},
    {OPT_CALL_CHECK, "none"}, {OPT_TIMELINE, "false"},
};

/* Refuses a point of site: simulated if the simulation does not support its workload or one of its
 * options, or if site.oversubscription does not divide site.leaf_hosts. Accepts points of other
 * sites. */
static enum status check_simulated(const struct point *point, struct error *e)
{
    const struct config *c = &point->config;
    const struct value *leaf = &c->values[OPT_SITE_LEAF_HOSTS],
                       *over = &c->values[OPT_SITE_OVERSUBSCRIPTION],
                       *variant = &c->values[OPT_VARIANT];
    if (!config_is_simulated(c))
        return OK;
    if (config_is_foreign(c) || config_is_peer(c))
        return mark_error(e, ERR_SPEC, c->values[OPT_SITE].mark,
                          "site: simulated does not support workload %s. Use workload: train_cnn, "
                          "or another site",
                          config_text(c, OPT_WORKLOAD));
    for (size_t i = 0; i < sizeof unsimulated / sizeof *unsimulated; i++) {
        const struct value *value = &c->values[unsimulated[i].option];
        if (strcmp(value->text, unsimulated[i].value) != 0)
            return mark_error(
                e, ERR_SPEC, value->mark, "%s = %s is not simulated. Use %s, or another site",
                option_get(unsimulated[i].option)->key, value->text, unsimulated[i].value);
    }
    if (config_int(c, OPT_INJECT_KIND) == INJECT_kill)
        return mark_error(e, ERR_SPEC, c->values[OPT_INJECT_KIND].mark,
                          "inject.kind = kill is not simulated. Use fixed, exponential or pareto, "
                          "or another site");
    if (config_strategy_kind(c) == STRATEGY_param_server && strcmp(variant->text, "usual") != 0 &&
        strcmp(variant->text, "sync") != 0)
        return mark_error(e, ERR_SPEC, variant->mark,
                          "sync.variant = %s is not simulated, since its message order depends on "
                          "timing. Use sync.variant: sync, or another site",
                          variant->text);
    if (leaf->number == 0 || fmod(leaf->number, over->number) == 0)
        return OK;
    return mark_error(e, ERR_SPEC, over->mark,
                      "site.oversubscription = %s must divide site.leaf_hosts = %s", over->text,
                      leaf->text);
}

static bool micro_batches_are_alike(const struct config *c)
{
    double ranks = (double)config_replicas(c, config_int(c, OPT_RANKS));
    double accumulate = config_number(c, OPT_ACCUMULATE);
    return accumulate == 1 || fmod(config_images(c), ranks * accumulate) == 0;
}

/* Checks that the point's other options allow compute = replay or compute = calibrate. Only
 * workload train_cnn supports these two. */
static enum status check_compute(const struct point *point, struct error *e)
{
    const struct config *c = &point->config;
    const struct value *compute = &c->values[OPT_COMPUTE];
    const struct value *norm = &c->values[OPT_BATCH_NORM], *overlap = &c->values[OPT_OVERLAP];
    if (compute->number == COMPUTE_real)
        return OK;
    if (config_is_foreign(c) || config_is_peer(c))
        return mark_error(e, ERR_SPEC, compute->mark,
                          "compute: %s is not supported by workload %s. Use compute: real",
                          compute->text, config_text(c, OPT_WORKLOAD));
    if (compute_is_calibrated(c) && !micro_batches_are_alike(c))
        return mark_error(e, ERR_SPEC, c->values[OPT_ACCUMULATE].mark,
                          "train.accumulate = %s does not split %.0f images on %s ranks into equal "
                          "micro-batches, which compute: replay needs for calibration. Use "
                          "compute.rate, or another train.accumulate",
                          config_text(c, OPT_ACCUMULATE), config_images(c),
                          config_text(c, OPT_RANKS));
    if (config_int(c, OPT_PRECISION) != PRECISION_fp32)
        return mark_error(
            e, ERR_SPEC, compute->mark,
            "compute: %s supports only train.precision = fp32, found %s. Use compute: real",
            compute->text, config_text(c, OPT_PRECISION));
    if (config_replays(c) && norm->number == BATCH_NORM_sync)
        return mark_error(
            e, ERR_SPEC, norm->mark,
            "train.batch_norm = sync sums statistics over ranks in batch norm layers, but compute "
            "= replay runs no layers. Use train.batch_norm: local or frozen");
    if (config_replays(c) && config_overlap(c) == OVERLAP_thread)
        return mark_error(e, ERR_SPEC, overlap->mark,
                          "sync.overlap = thread is not supported with compute = replay, since "
                          "each thread would keep a core busy while its rank sleeps. Use "
                          "sync.overlap: none, poll_layers or poll_tiles");
    return OK;
}

/* Reports a missing model. If workload.command is given, the message says that it is empty, or that
 * the workload must be `command`. */
static enum status miss_model(const struct spec *spec, const struct point *point, struct error *e)
{
    const struct value *command = &point->config.values[OPT_COMMAND];
    if (!command->set)
        return missing(spec, OPT_MODEL, e);
    if (command->n == 0)
        return mark_error(
            e, ERR_SPEC, command->mark,
            "workload.command is []: expected a program and its arguments, such as [./pi, 1000]");
    return mark_error(
        e, ERR_SPEC, command->mark,
        "workload.command has no effect with workload = %s. Use workload: {command: [...]}",
        config_text(&point->config, OPT_WORKLOAD));
}

/* Checks a training point against its model and data. Calibration points are derived from other
 * points, so check_batch_given and config_check_elastic are skipped for them. */
static enum status check_training(const struct spec *spec, const struct point *point,
                                  struct error *e)
{
    const struct config *c = &point->config;
    const struct net_desc *net = &point->net->net;
    const char *strategy = strategy_names()[config_strategy_kind(c)];
    const enum option_id of_strategy = OPT_STRATEGY;
    enum option_id at = OPT_STRATEGY;
    int ranks = (int)config_int(c, OPT_RANKS);
    TRY(place_error(config_check_parallel(c, net, ranks, &at, e), c, &at, e));
    if (!config_calibrates(c))
        TRY(check_batch_given(spec, point, e));
    TRY(check_batch_fits(point, e));
    TRY(place_error(config_check_strategy(c, ranks, &at, e), c, &at, e));
    TRY(place_error(workload_check_strategy(config_workload(c), strategy, e), c, &of_strategy, e));
    TRY(place_error(config_check_data(c, net, &at, e), c, &at, e));
    if (!config_calibrates(c))
        TRY(place_error(config_check_elastic(c, &at, e), c, &at, e));
    TRY(check_frozen(point, e));
    TRY(check_start(point, e));
    return check_rates(point, e);
}

static enum status check_point(const struct spec *spec, const struct point *point, struct error *e)
{
    TRY(check_nodes(point, e));
    TRY(check_machines(point, e));
    TRY(link_check(&point->config, e));
    TRY(check_simulated(point, e));
    TRY(check_compute(point, e));
    if (config_is_foreign(&point->config))
        return foreign_check(&point->config, e);
    if (!point->config.values[OPT_MODEL].set)
        return miss_model(spec, point, e);
    return check_training(spec, point, e);
}

/* Returns whether a point was added as the baseline point of other points. */
static bool is_added_base(const struct spec *spec, size_t point)
{
    for (size_t i = 0; i < spec->n_points; i++)
        if (i != point && spec->points[i].base_index == point)
            return !spec->points[point].requested;
    return false;
}

enum status rules_check_points(const struct spec *spec, struct error *e)
{
    for (size_t i = 0; i < spec->n_points; i++) {
        enum status status = check_point(spec, &spec->points[i], e);
        if (status == ERR_SPEC && is_added_base(spec, i))
            return error_at(e, status, e->file, e->line, e->column,
                            "%s. `baseline` adds this point. Correct the values in `baseline`",
                            e->text);
        TRY(status);
    }
    return rules_check_together(spec, e);
}
