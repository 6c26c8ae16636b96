/* Steps that other campaigns have measured, from their tables. */
#include <glob.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bench/record/csv_reader.h"
#include "bench/runner/forecast/forecast.h"
#include "kernels/base/mem.h"

/* The columns of summary.csv that a step is known by. */
struct columns {
    size_t model, workload, strategy, ranks, threads, oversubscribed, compute, batch, step_ms;
};

/* Tables of earlier versions lack some. */
static bool find_columns(struct columns *c, const struct csv_table *table)
{
    const struct csv_wanted wanted[] = {{"model", &c->model},
                                        {"workload", &c->workload},
                                        {"strategy", &c->strategy},
                                        {"ranks", &c->ranks},
                                        {"threads_per_rank", &c->threads},
                                        {"oversubscribed", &c->oversubscribed},
                                        {"compute", &c->compute},
                                        {"global_batch", &c->batch},
                                        {"step_ms_median", &c->step_ms}};
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

/* What a row says; false where it holds no step that somebody computed. */
static bool take_row(struct known_step *step, const struct csv_table *table,
                     const struct columns *c, size_t row, int cores)
{
    double wanted = number(table, row, c->ranks) * number(table, row, c->threads);
    bool shared = number(table, row, c->oversubscribed) > 0;
    *step = (struct known_step){.ranks = number(table, row, c->ranks),
                                .cores = shared ? fmin(wanted, cores) : wanted,
                                .images = number(table, row, c->batch),
                                .step_s = number(table, row, c->step_ms) / 1e3};
    take_text(step->model, sizeof step->model, table, row, c->model);
    take_text(step->workload, sizeof step->workload, table, row, c->workload);
    take_text(step->strategy, sizeof step->strategy, table, row, c->strategy);
    return step->step_s > 0 && step->images > 0 && step->cores > 0 &&
           strcmp(csv_table_cell(table, row, c->compute), "replay") != 0;
}

static enum status take_table(struct known_steps *known, const struct csv_table *table,
                              const char *from, int cores, struct error *e)
{
    struct columns c;
    if (!find_columns(&c, table))
        return OK;
    for (size_t row = 0; row < table->rows; row++) {
        struct known_step step;
        if (!take_row(&step, table, &c, row, cores))
            continue;
        snprintf(step.from, sizeof step.from, "%s", from);
        TRY(MEM_GROW(known->all, known->n, "steps of other campaigns", e));
        known->all[known->n++] = step;
    }
    return OK;
}

/* "name" of folder/name/latest/summary.csv or folder/name/summary.csv. */
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
    name_campaign(from, path);
    enum status status = csv_table_read(&table, path, &why);
    if (status == OK)
        status = take_table(known, &table, from, cores, e);
    else if (status == ERR_MEMORY)
        *e = why;
    else
        status = OK;
    csv_table_free(&table);
    return status;
}

static enum status take_files(struct known_steps *known, const char *pattern, int cores,
                              struct error *e)
{
    glob_t found;
    enum status status = OK;
    int failed = glob(pattern, 0, NULL, &found);
    if (failed)
        return failed == GLOB_NOSPACE ? error_no_memory(e, "the names of tables") : OK;
    for (size_t i = 0; status == OK && i < found.gl_pathc; i++)
        status = take_file(known, found.gl_pathv[i], cores, e);
    globfree(&found);
    return status;
}

enum status known_steps_read(struct known_steps *known, const char *out, const char *home,
                             int cores, struct error *e)
{
    char pattern[PATH_BYTES];
    *known = (struct known_steps){.n = 0};
    TRY(path_format(pattern, e, "%s/*/latest/summary.csv", out));
    TRY(take_files(known, pattern, cores, e));
    bool here = path_is_folder("results/reference");
    TRY(path_format(pattern, e, "%s/results/reference/*/summary.csv", here ? "." : home));
    return take_files(known, pattern, cores, e);
}

void known_steps_free(struct known_steps *known)
{
    free(known->all);
    *known = (struct known_steps){.n = 0};
}

/* 0: it tells nothing of the point. The batch of all ranks comes before that of one, for what a step costs besides its
 * images; so do as many ranks, and the strategy only then. */
static int likeness(const struct known_step *step, const struct point *point)
{
    const struct config *c = &point->config;
    double images = config_images(c), ranks = config_number(c, OPT_RANKS);
    bool as_many = step->images == images;
    if (strcmp(step->model, config_text(c, OPT_MODEL)) != 0 ||
        strcmp(step->workload, config_text(c, OPT_WORKLOAD)) != 0 ||
        !(as_many || step->images / step->ranks == images / ranks))
        return 0;
    return 1 + 4 * as_many + 2 * (step->ranks == ranks) +
           (strcmp(step->strategy, config_text(c, OPT_STRATEGY)) == 0);
}

const struct known_step *known_steps_find(const struct known_steps *known,
                                          const struct point *point)
{
    const struct known_step *found = NULL;
    int most = 0;
    for (size_t i = 0; i < known->n; i++) {
        int like = likeness(&known->all[i], point);
        if (like > most)
            found = &known->all[i];
        most = like > most ? like : most;
    }
    return found;
}
