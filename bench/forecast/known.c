/* Reads the step times that other campaigns have measured, from their summary.csv. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bench/base/file.h"
#include "bench/base/json.h"
#include "bench/forecast/forecast.h"
#include "bench/record/csv_reader.h"
#include "kernels/base/mem.h"

/* Indices of the columns of a summary.csv that describe a step. */
struct columns {
    size_t site, link, model, workload, strategy, nodes, ranks, threads, oversubscribed, compute,
        batch, flops, step_ms, exposed_ms, inject_ms;
};

/* A summary.csv table, its campaign, and the machine on which the table was measured. */
struct source {
    const struct csv_table *table;
    const char *from;                   /* name of the campaign that the table belongs to */
    char machine[HARDWARE_CLASS_BYTES]; /* hardware class; "" if the manifest does not have it */
};

/* Finds the columns. Returns false if some are missing, as in tables of earlier versions. */
static bool find_columns(struct columns *c, const struct csv_table *table)
{
    const struct csv_wanted wanted[] = {{"site", &c->site},
                                        {"link", &c->link},
                                        {"model", &c->model},
                                        {"workload", &c->workload},
                                        {"strategy", &c->strategy},
                                        {"nodes", &c->nodes},
                                        {"ranks", &c->ranks},
                                        {"threads_per_rank", &c->threads},
                                        {"oversubscribed", &c->oversubscribed},
                                        {"compute", &c->compute},
                                        {"global_batch", &c->batch},
                                        {"flops_per_image", &c->flops},
                                        {"step_ms_median", &c->step_ms},
                                        {"comm_exposed_ms", &c->exposed_ms},
                                        {"inject_ms", &c->inject_ms}};
    struct error none;
    return csv_table_columns(table, wanted, sizeof wanted / sizeof *wanted, &none) == OK;
}

static double number(const struct csv_table *table, size_t row, size_t column)
{
    double value;
    struct error none;
    return csv_table_number(table, row, column, &value, &none) == OK ? value : NAN;
}

static void take_text(char *text, size_t size, const struct csv_table *table, size_t row,
                      size_t column)
{
    snprintf(text, size, "%s", csv_table_cell(table, row, column));
}

/* Reads a step's counts (ranks, nodes, cores, images, FLOPs) and times from a row. The whole step
 * counts as compute if exposed communication is unknown, or if ranks share cores: the communication
 * time then includes waiting for a core. */
static void take_times(struct known_step *step, const struct csv_table *table,
                       const struct columns *c, size_t row, int cores)
{
    double wanted = number(table, row, c->ranks) * number(table, row, c->threads);
    bool shared = number(table, row, c->oversubscribed) > 0;
    double exposed_ms = number(table, row, c->exposed_ms);
    step->ranks = number(table, row, c->ranks);
    step->nodes = number(table, row, c->nodes);
    step->cores = shared ? fmin(wanted, cores) : wanted;
    step->images = number(table, row, c->batch);
    step->flops = step->images * number(table, row, c->flops);
    step->step_s = number(table, row, c->step_ms) / 1e3;
    step->compute_s = shared || isnan(exposed_ms) ? step->step_s : step->step_s - exposed_ms / 1e3;
}

/* Reads a row. Returns false if compute was replayed, if sleep was injected, or if the step time,
 * the batch or the number of cores is unknown. */
static bool take_row(struct known_step *step, const struct source *s, const struct columns *c,
                     size_t row, int cores)
{
    const struct csv_table *table = s->table;
    *step = (struct known_step){.ranks = NAN};
    take_times(step, table, c, row, cores);
    take_text(step->model, sizeof step->model, table, row, c->model);
    take_text(step->workload, sizeof step->workload, table, row, c->workload);
    take_text(step->strategy, sizeof step->strategy, table, row, c->strategy);
    take_text(step->site, sizeof step->site, table, row, c->site);
    take_text(step->link, sizeof step->link, table, row, c->link);
    snprintf(step->from, sizeof step->from, "%s", s->from);
    snprintf(step->machine, sizeof step->machine, "%s", s->machine);
    return step->compute_s > 0 && step->images > 0 && step->cores > 0 &&
           !(number(table, row, c->inject_ms) > 0) &&
           strcmp(csv_table_cell(table, row, c->compute), "replayed") != 0;
}

static enum status take_table(struct known_steps *known, const struct source *s, int cores,
                              struct error *e)
{
    struct columns c;
    if (!find_columns(&c, s->table))
        return OK;
    for (size_t row = 0; row < s->table->rows; row++) {
        struct known_step step;
        if (!take_row(&step, s, &c, row, cores))
            continue;
        TRY(MEM_GROW(known->all, known->n, "steps of other campaigns", e));
        known->all[known->n++] = step;
    }
    return OK;
}

/* Reads the hardware class from the manifest in the table's folder. */
static void take_machine(char machine[HARDWARE_CLASS_BYTES], const char *path)
{
    char manifest[PATH_BYTES];
    const char *slash = strrchr(path, '/');
    machine[0] = '\0';
    if (slash == NULL ||
        path_format(manifest, NULL, "%.*s/manifest.json", (int)(slash - path), path) != OK)
        return;
    json_t *json = json_load_file(manifest, 0, NULL);
    snprintf(machine, HARDWARE_CLASS_BYTES, "%s",
             json_text_of(json_object_get(json, "facts"), "machine"));
    json_decref(json);
}

/* Extracts the campaign's name from a path: NAME in FOLDER/NAME/latest/summary.csv or in
 * FOLDER/NAME/summary.csv. */
static void name_campaign(char name[FORECAST_FROM], const char *path)
{
    char text[PATH_BYTES], *last = NULL;
    snprintf(text, sizeof text, "%s", path);
    for (int i = 0; i < 3 && (last = strrchr(text, '/')) != NULL; i++) {
        *last = '\0';
        if (i > 0 && strcmp(last + 1, "latest") != 0)
            break;
    }
    snprintf(name, FORECAST_FROM, "%.*s", FORECAST_FROM - 1, last != NULL ? last + 1 : text);
}

static enum status take_file(struct known_steps *known, const char *path, int cores,
                             struct error *e)
{
    struct csv_table table;
    struct error why;
    char from[FORECAST_FROM];
    struct source s = {.table = &table, .from = from};
    name_campaign(from, path);
    take_machine(s.machine, path);
    enum status status = csv_table_read(&table, path, &why);
    if (status == OK)
        status = take_table(known, &s, cores, e);
    else if (status == ERR_MEMORY)
        *e = why;
    else
        status = OK;
    csv_table_free(&table);
    return status;
}

static enum status take_files(struct known_steps *known, const char *folder, const char *pattern,
                              int cores, struct error *e)
{
    glob_t found;
    enum status status = OK;
    int failed = file_glob(folder, pattern, 0, &found);
    if (failed)
        return failed == GLOB_NOSPACE ? error_no_memory(e, "the names of tables") : OK;
    for (size_t i = 0; status == OK && i < found.gl_pathc; i++)
        status = take_file(known, found.gl_pathv[i], cores, e);
    globfree(&found);
    return status;
}

static enum status take_all(struct known_steps *known, const char *out, const char *home, int cores,
                            struct error *e)
{
    bool here = path_is_folder("results/reference");
    TRY(take_files(known, out, "*/latest/summary.csv", cores, e));
    return take_files(known, here ? "." : home, "results/reference/*/summary.csv", cores, e);
}

/* ---- Speed of machines ---- */

static bool is_here(const struct known_steps *known, const struct known_step *step)
{
    return strcmp(step->machine, known->here) == 0;
}

/* Returns the images per second of one core, without communication. */
static double image_rate(const struct known_step *step)
{
    return step->images / (step->cores * step->compute_s);
}

static int compare_computed(const void *a, const void *b)
{
    const struct known_step *x = *(struct known_step *const *)a,
                            *y = *(struct known_step *const *)b;
    int order = strcmp(x->model, y->model);
    return order != 0 ? order : strcmp(x->workload, y->workload);
}

/* For each pair of network and workload, sums the logarithms of this machine's rates. With these
 * sums, known_steps_speed need not compare each step with all steps of this machine. */
static void add_rates(struct known_steps *known, struct known_step **sorted)
{
    size_t computed = 0;
    for (size_t i = 0; i < known->n; i++)
        sorted[i] = &known->all[i];
    qsort(sorted, known->n, sizeof *sorted, compare_computed);
    for (size_t i = 0; i < known->n; i++) {
        computed += i > 0 && compare_computed(&sorted[i - 1], &sorted[i]) != 0;
        sorted[i]->computed = computed;
        if (!is_here(known, sorted[i]))
            continue;
        known->here_rates[computed].n++;
        known->here_rates[computed].sum += log(image_rate(sorted[i]));
    }
}

static enum status find_rates(struct known_steps *known, struct error *e)
{
    struct known_step **sorted;
    TRY(MEM_NEW(known->here_rates, known->n, "rates of this machine", e));
    TRY(MEM_NEW(sorted, known->n, "steps of other campaigns", e));
    add_rates(known, sorted);
    free(sorted);
    return OK;
}

/* Returns this machine's speed over the speed of step->machine: the geometric mean over pairs of
 * steps, one on each machine, with equal network and workload. Returns 1 if there is no such
 * pair. */
double known_steps_speed(const struct known_steps *known, const struct known_step *step)
{
    double sum = 0, n = 0;
    if (is_here(known, step))
        return 1;
    for (size_t i = 0; i < known->n; i++) {
        const struct known_step *there = &known->all[i];
        const struct known_rates *here = &known->here_rates[there->computed];
        if (here->n == 0 || strcmp(there->machine, step->machine) != 0)
            continue;
        sum += here->sum - here->n * log(image_rate(there));
        n += here->n;
    }
    return n > 0 ? exp(sum / n) : 1;
}

enum status known_steps_read(struct known_steps *known, const char *out, const char *home,
                             const struct place_machine *machine, struct error *e)
{
    *known = (struct known_steps){.n = 0};
    hardware_class(known->here, machine);
    TRY(take_all(known, out, home, machine->usable_cores, e));
    return find_rates(known, e);
}

void known_steps_free(struct known_steps *known)
{
    free(known->here_rates);
    free(known->all);
    *known = (struct known_steps){.n = 0};
}

/* ---- Choosing a step ---- */

static bool has_network_of(const struct known_step *step, const struct config *c)
{
    char link[LINK_BYTES] = "";
    if (config_site(c)->shares_cores)
        config_link(link, c);
    return step->nodes == config_number(c, OPT_NODES) && strcmp(step->link, link) == 0 &&
           strcmp(step->site, config_text(c, OPT_SITE)) == 0;
}

/* Returns whether `c` splits the network into pipeline stages or tensor slices. Since struct
 * known_step does not record splits, known steps count as not split. */
static bool is_cut(const struct config *c)
{
    return config_int(c, OPT_PIPELINE) > 1 || config_int(c, OPT_TENSOR) > 1;
}

bool known_step_communicates_as(const struct known_step *step, const struct point *point)
{
    return !is_cut(&point->config) && has_network_of(step, &point->config) &&
           (step->nodes == 1 ||
            strcmp(step->strategy, config_text(&point->config, OPT_STRATEGY)) == 0);
}

/* Returns the similarity of a known step to a step of the point; larger is more similar. Returns 0
 * if the neural network or the workload differs, or if both the total batch and the batch per rank
 * differ. */
static int likeness(const struct known_steps *known, const struct known_step *step,
                    const struct point *point)
{
    const struct config *c = &point->config;
    double images = config_images(c), ranks = config_number(c, OPT_RANKS);
    bool as_many = step->images == images;
    if (strcmp(step->model, config_text(c, OPT_MODEL)) != 0 ||
        strcmp(step->workload, config_text(c, OPT_WORKLOAD)) != 0 ||
        !(as_many || step->images / step->ranks == images / ranks))
        return 0;
    return 1 + 16 * is_here(known, step) + 8 * has_network_of(step, c) + 4 * as_many +
           2 * (step->ranks == ranks) + (strcmp(step->strategy, config_text(c, OPT_STRATEGY)) == 0);
}

const struct known_step *known_steps_find(const struct known_steps *known,
                                          const struct point *point)
{
    const struct known_step *found = NULL;
    int most = 0;
    for (size_t i = 0; i < known->n; i++) {
        int like = likeness(known, &known->all[i], point);
        if (like > most)
            found = &known->all[i];
        most = like > most ? like : most;
    }
    return found;
}

/* Returns the distance between the FLOPs of a known step and `flops`. Steps of this machine are
 * always nearer than steps of other machines. */
static double distance(const struct known_steps *known, const struct known_step *step, double flops)
{
    return fabs(log(step->flops / flops)) + (is_here(known, step) ? 0 : 1e3);
}

double known_steps_rate(const struct known_steps *known, const char *workload, double flops)
{
    const struct known_step *nearest = NULL;
    for (size_t i = 0; i < known->n; i++) {
        const struct known_step *step = &known->all[i];
        if (strcmp(step->workload, workload) != 0 || !(step->flops > 0))
            continue;
        if (nearest == NULL || distance(known, step, flops) < distance(known, nearest, flops))
            nearest = step;
    }
    return nearest == NULL ? NAN
                           : nearest->flops / (nearest->cores * nearest->compute_s) *
                                 known_steps_speed(known, nearest);
}
