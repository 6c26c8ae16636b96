/* Writes the labels of points: the case and the options that vary. */
#include <stdlib.h>
#include <string.h>

#include "bench/spec/matrix.h"
#include "bench/spec/nodes/compute.h"
#include "bench/spec/points/points.h"
#include "bench/spec/value.h"
#include "kernels/base/mem.h"

/* Appends an option to the point's label, such as "ranks=2". Appends only the value if it is clear
 * without the key, such as "allreduce". */
static void extend_label(struct point *point, const struct spec_option *option)
{
    size_t used = strlen(point->label), room = sizeof point->label - used;
    const char *dot = strrchr(option->key, '.'), *text = point->config.values[option->id].text;
    bool plain = option->id == OPT_WORKLOAD || option->id == OPT_STRATEGY ||
                 option->id == OPT_VARIANT || option->id == OPT_MODEL || option->id == OPT_COMPRESS;
    snprintf(point->label + used, room, "%s%s%s%s", used > 0 ? " " : "",
             plain ? "" : (dot != NULL ? dot + 1 : option->key), plain ? "" : "=", text);
}

/* Whether one option differs between the points of one case, as far as they have been compared. */
struct in_case {
    const struct value *latest; /* value at the last compared point of the case; NULL: none yet */
    bool differs;
};

static size_t case_index(const struct spec *spec, const struct point *point)
{
    return point->of == spec->matrix ? 0 : (size_t)(point->of - spec->matrix->cases);
}

/* Sets cases[] by comparing the option's values within each case of the spec. Ignores calibration
 * points and points for which `counts` is false. Returns whether the values differ within at least
 * one case. */
static bool compare_values(struct in_case *cases, const struct spec *spec, enum option_id id,
                           bool (*counts)(const struct config *, enum option_id))
{
    bool differs = false;
    size_t n = spec->matrix->n_cases;
    memset(cases, 0, (n + 1) * sizeof *cases);
    for (size_t i = 0; i < spec->n_points; i++) {
        const struct value *value = &spec->points[i].config.values[id];
        struct in_case *in = &cases[case_index(spec, &spec->points[i])];
        if (config_calibrates(&spec->points[i].config) || !counts(&spec->points[i].config, id))
            continue;
        in->differs = in->differs || (in->latest != NULL && !value_equal(in->latest, value));
        in->latest = value;
        differs = differs || in->differs;
    }
    return differs;
}

/* Returns whether an option belongs in the label of a calibration point. Ranks and batch per rank
 * always do; `compute`, the global batch and options of workload.options never do. Other options do
 * if they affect compute times and differ between points of the case (`differs`). */
static bool labels_calibration(enum option_id id, bool differs)
{
    if (id == OPT_RANKS || id == OPT_BATCH_PER_RANK)
        return true;
    return differs && id < OPT_OWN && id != OPT_COMPUTE && id != OPT_GLOBAL_BATCH &&
           !compute_leaves_out(option_get(id), false);
}

/* Appends an option to the label of each point that uses it, if the option varies within the
 * point's case. A variant or compressor that is the default is never appended. In a label without a
 * case name, other variants and compressors are appended even if they do not vary. For calibration
 * points, labels_calibration replaces the test for variation. */
static void label_option(struct spec *spec, struct in_case *cases, enum option_id id)
{
    bool unusual = id == OPT_VARIANT || id == OPT_COMPRESS;
    const char *preset = spec->presets.values[id].text;
    /* Tests config_concerns first: it is cheaper than config_uses, and true for every point for
     * which config_uses is true. */
    if (compare_values(cases, spec, id, config_concerns))
        compare_values(cases, spec, id, config_uses);
    for (size_t i = 0; i < spec->n_points; i++) {
        struct point *point = &spec->points[i];
        bool other = unusual && strcmp(config_text(&point->config, id), preset) != 0;
        bool differs = cases[case_index(spec, point)].differs;
        if (config_calibrates(&point->config))
            differs = labels_calibration(id, differs);
        bool shown = unusual ? other && (differs || point->case_name[0] == '\0') : differs;
        if (shown && config_uses(&point->config, id))
            extend_label(point, config_option(&spec->config, id));
    }
}

/* Returns the first word of a label: the case name, "calibration", or "base" for a baseline point
 * of several cases. */
static const char *first_word(const struct spec *spec, const struct point *point)
{
    if (config_calibrates(&point->config))
        return "calibration";
    bool shared = spec->matrix->n_cases > 0 && point->case_name[0] == '\0';
    return shared && point->base ? "base" : point->case_name;
}

/* Writes the labels of all points. In a label, ranks come before all other options, because people
 * look for a point by its ranks. */
enum status labels_write(struct spec *spec, struct error *e)
{
    struct in_case *cases;
    TRY(MEM_NEW(cases, spec->matrix->n_cases + 1, "the labels of points", e));
    for (size_t i = 0; i < spec->n_points; i++)
        snprintf(spec->points[i].label, sizeof spec->points[i].label, "%s",
                 first_word(spec, &spec->points[i]));
    label_option(spec, cases, OPT_RANKS);
    for (size_t id = 0; id < OPTION_COUNT; id++)
        if (id != OPT_RANKS && !option_is_derived((enum option_id)id))
            label_option(spec, cases, (enum option_id)id);
    for (size_t i = 0; i < spec->n_points; i++)
        if (spec->points[i].label[0] == '\0')
            extend_label(&spec->points[i], option_get(OPT_RANKS));
    free(cases);
    return OK;
}
