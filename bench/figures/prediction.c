#include "bench/figures/prediction.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench/collect/summary.h"
#include "bench/figures/figures.h"
#include "bench/record/csv_reader.h"
#include "kernels/base/mem.h"

/* ---- The coefficients ---- */

struct link_file {
    struct link_model link;
    double ranks, nodes;
    char host[128], date[32];
};

/* Finds the row of coefficient `name` in link.csv, and the column of values. *row: the number of
 * rows if the coefficient is missing. ERR_DATA if several rows have this name. */
static enum status find(size_t *row, size_t *column, const struct csv_table *table,
                        const char *name, struct error *e)
{
    size_t names, n = 0;
    const struct csv_wanted columns[] = {{"coefficient", &names}, {"value", column}};
    TRY(csv_table_columns(table, columns, sizeof columns / sizeof *columns, e));
    *row = table->rows;
    for (size_t i = table->rows; i-- > 0;)
        if (strcmp(csv_table_cell(table, i, names), name) == 0) {
            *row = i;
            n++;
        }
    return n <= 1 ? OK
                  : error_at(e, ERR_DATA, table->path, 0, 0,
                             "expected one row for each coefficient of a link, found %zu rows "
                             "'%s'",
                             n, name);
}

/* Reads coefficient `name` of link.csv as a number, or as text if `number` is NULL. */
static enum status take(const struct csv_table *table, const char *name, double *number, char *text,
                        size_t size, struct error *e)
{
    size_t row, column;
    TRY(find(&row, &column, table, name, e));
    if (row == table->rows)
        return error_at(e, ERR_DATA, table->path, 0, 0,
                        "row '%s' not found. Measure the link again with `make bench-comm`", name);
    if (number != NULL)
        return csv_table_number(table, row, column, number, e);
    snprintf(text, size, "%s", csv_table_cell(table, row, column));
    return OK;
}

/* Reads the percentiles of message time / median message time. Leaves link->paces unchanged if
 * link.csv is from an earlier version without percentiles. */
static enum status take_paces(struct link_model *link, const struct csv_table *table,
                              struct error *e)
{
    char name[LINK_PACE_NAME];
    for (int i = 0; i < LINK_PACES; i++) {
        size_t row, column;
        TRY(find(&row, &column, table, link_pace_name(name, i), e));
        if (row < table->rows)
            TRY(csv_table_number(table, row, column, &link->paces[i], e));
    }
    return OK;
}

static enum status take_all(struct link_file *f, const struct csv_table *table, struct error *e)
{
    const struct {
        const char *name;
        double *to, unit;
    } numbers[] = {{"alpha_us", &f->link.alpha_s, 1e-6},
                   {"beta_ns_per_byte", &f->link.beta_s, 1e-9},
                   {"gamma_ns_per_byte", &f->link.gamma_s, 1e-9},
                   {"ranks", &f->ranks, 1},
                   {"nodes", &f->nodes, 1}};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        TRY(take(table, numbers[i].name, numbers[i].to, NULL, 0, e));
        *numbers[i].to *= numbers[i].unit;
    }
    TRY(take_paces(&f->link, table, e));
    TRY(take(table, "host", NULL, f->host, sizeof f->host, e));
    return take(table, "date", NULL, f->date, sizeof f->date, e);
}

static enum status read_link(struct link_file *f, const char *path, struct error *e)
{
    struct csv_table table;
    *f = (struct link_file){0};
    enum status status = csv_table_read(&table, path, e);
    THEN(status, take_all(f, &table, e));
    csv_table_free(&table);
    return status;
}

/* ---- Steps ---- */

static double cores_of(const struct point *point)
{
    return (double)config_int(&point->config, OPT_RANKS) *
           (double)config_int(&point->config, OPT_THREADS);
}

/* Returns whether the model can predict the point's step time. The point must be scalebench's own
 * data-parallel training on one node, and must not have strategy none at several ranks. Its base
 * must not communicate (one rank, or strategy none). Both points must have a step time, and the
 * link must be measured on one node. */
static bool is_predictable(const struct summary *s, size_t i, const struct link_file *f)
{
    const struct point_summary *p = &s->points[i], *base = &s->points[p->base];
    const struct config *config = &p->point->config;
    bool base_computes = config_int(&base->point->config, OPT_RANKS) == 1 || base->compute_only;
    return !config_is_peer(config) && !config_is_foreign(config) && !p->compute_only &&
           base_computes && config_int(config, OPT_PIPELINE) == 1 &&
           config_int(config, OPT_TENSOR) == 1 && isfinite(p->step_ms.mid) &&
           isfinite(base->step_ms.mid) && f->nodes == 1 && config_int(config, OPT_NODES) == 1;
}

static enum status predict_point(double *step_ms, const struct summary *s, size_t i,
                                 const struct link_file *f, struct error *e)
{
    const struct point_summary *p = &s->points[i], *base = &s->points[p->base];
    size_t width = strcmp(base->cells[COLUMN_precision], "f64") == 0 ? 8 : 4;
    double comm_ms = 0;
    const struct sweep_machine machine = prediction_machine(&p->point->config, &f->link, &f->link);
    TRY(prediction_comm_ms(&comm_ms, p->point, width, &machine, e));
    double share = config_images(&p->point->config) / cores_of(p->point) * cores_of(base->point) /
                   config_images(&base->point->config);
    *step_ms = cell_number(base, COLUMN_step_ms_median) * share + comm_ms;
    return OK;
}

/* ---- Calls alone ---- */

/* Returns whether the point's messages are known and the time of its communication calls was
 * measured. A pipeline's messages are unknown, since the run decides where to cut the network. */
static bool has_calls(const struct point_summary *p)
{
    const struct config *config = &p->point->config;
    return !config_is_peer(config) && !config_is_foreign(config) && !p->compute_only &&
           config_int(config, OPT_PIPELINE) == 1 && config_int(config, OPT_RANKS) > 1 &&
           isfinite(cell_number(p, COLUMN_comm_replay_ms));
}

/* Sets *machine to the model that predicts the times of the point's messages. Returns whether the
 * coefficients in `f` apply to the point. Coefficients of one node apply to points on one node,
 * coefficients of several nodes to points on several nodes. Coefficients of one node also apply to
 * several emulated or simulated nodes if the spec limits their link's rate. Messages between these
 * nodes then have the spec's rate and delay (*by_rate = true). Exception: these coefficients do not
 * apply if the link options have their defaults and the manifest records the hosts' actual link,
 * since the spec's rate may then be wrong. If site.link is set, the coefficients of that link take
 * precedence. */
static bool find_machine(struct sweep_machine *machine, bool *by_rate, const struct summary *s,
                         const struct config *config, const struct link_file *f)
{
    bool several = config_int(config, OPT_NODES) > 1;
    bool said = config_site(config)->shares_cores &&
                !(config_has_usual_link(config) && s->link[0] != '\0') &&
                config_link_s_per_byte(config) > 0;
    *machine = prediction_machine(config, &f->link, &f->link);
    *by_rate = several && f->nodes == 1;
    if (*by_rate) {
        machine->network.beta_s = config_link_s_per_byte(config);
        machine->delay_s = config_link_delay_s(config);
        machine->receives_freely = !config_is_simulated(config);
    }
    prediction_take_link(machine, config);
    return *by_rate ? said : several == (f->nodes > 1);
}

static enum status predict_calls(struct prediction *p, const struct summary *s, size_t i,
                                 const struct link_file *f, struct error *e)
{
    const struct point_summary *own = &s->points[i];
    size_t width = strcmp(own->cells[COLUMN_precision], "f64") == 0 ? 8 : 4;
    struct sweep_machine machine;
    bool by_rate;
    if (!has_calls(own) || !find_machine(&machine, &by_rate, s, &own->point->config, f))
        return OK;
    p->by_rate |= by_rate;
    return prediction_comm_ms(&p->calls_ms[i], own->point, width, &machine, e);
}

static void write_words(char words[256], const struct link_file *f)
{
    snprintf(words, 256,
             "alpha %.3g us, beta %.3g and gamma %.3g ns a byte (link.csv of %s, %g ranks)",
             1e6 * f->link.alpha_s, 1e9 * f->link.beta_s, 1e9 * f->link.gamma_s, f->date, f->ranks);
}

static enum status predict(struct prediction *p, const struct summary *s, const struct link_file *f,
                           struct error *e)
{
    for (size_t i = 0; i < s->n; i++) {
        if (is_predictable(s, i, f))
            TRY(predict_point(&p->step_ms[i], s, i, f, e));
        TRY(predict_calls(p, s, i, f, e));
        p->n += isfinite(p->step_ms[i]) || isfinite(p->calls_ms[i]);
    }
    write_words(p->words, f);
    if (p->n == 0)
        snprintf(p->words, sizeof p->words,
                 "expected a base without communication, and points on one node");
    return OK;
}

/* ---- Finding link.csv ---- */

/* Finds link.csv in the run's folder, otherwise in the folder that `make bench-comm` writes. */
static bool find_beside(char *path, size_t size, const char *run_dir)
{
    static const char *const ways[] = {".", "../../comm/latest"};
    bool found = false;
    for (size_t i = 0; i < sizeof ways / sizeof *ways && !found; i++) {
        snprintf(path, size, "%s/%s/link.csv", run_dir, ways[i]);
        found = access(path, F_OK) == 0;
    }
    return found;
}

/* Returns option `link`: a path, "none" or "auto". */
static const char *link_path(const struct spec *spec)
{
    const char *text = config_text(&spec->config, OPT_LINK);
    const struct spec_input *input = spec_input_find(spec, OPT_LINK, text);
    return input != NULL ? input->path : text;
}

/* Reads the coefficients in the file that option `link` names. *found is false, with the reason in
 * `words`, if `link` is none, or if `auto` finds no link.csv measured on `host`. */
static enum status find_link(struct link_file *f, bool *found, char words[256],
                             const struct spec *spec, const char *run_dir, const char *host,
                             struct error *e)
{
    char beside[4200];
    const char *path = link_path(spec);
    bool by_itself = strcmp(path, "auto") == 0;
    *found = false;
    snprintf(words, 256, "link is none");
    if (strcmp(path, "none") == 0)
        return OK;
    if (by_itself && !find_beside(beside, sizeof beside, run_dir)) {
        snprintf(words, 256, "comm/latest/link.csv not found. Use `make bench-comm` to write it");
        return OK;
    }
    TRY(read_link(f, by_itself ? beside : path, e));
    *found = !by_itself || strcmp(host, f->host) == 0;
    if (!*found)
        snprintf(words, 256,
                 "comm/latest/link.csv was measured on host %.200s. Use `make bench-comm`",
                 f->host);
    return OK;
}

enum status prediction_make(struct prediction *p, const struct summary *s, const char *run_dir,
                            struct error *e)
{
    char host[256];
    struct link_file f;
    bool found;
    *p = (struct prediction){.n = 0};
    TRY(MEM_NEW(p->step_ms, s->n, "the model's steps", e));
    TRY(MEM_NEW(p->calls_ms, s->n, "the model's calls", e));
    for (size_t i = 0; i < s->n; i++)
        p->step_ms[i] = p->calls_ms[i] = NAN;
    summary_distinct(host, sizeof host, s, COLUMN_host);
    TRY(find_link(&f, &found, p->words, s->spec, run_dir, host, e));
    return found ? predict(p, s, &f, e) : OK;
}

enum status prediction_link(struct link_model *link, char words[256], const struct spec *spec,
                            const char *run_dir, const char *host, struct error *e)
{
    struct link_file f;
    bool found;
    TRY(find_link(&f, &found, words, spec, run_dir, host, e));
    if (found) {
        *link = f.link;
        write_words(words, &f);
    }
    return OK;
}

enum status prediction_check(const struct spec *spec, struct error *e)
{
    const char *path = link_path(spec);
    struct link_file f;
    if (strcmp(path, "none") == 0 || strcmp(path, "auto") == 0)
        return OK;
    enum status status = read_link(&f, path, e);
    if (status == ERR_DATA)
        return spec_input_refuse(spec, OPT_LINK, "a link.csv as make bench-comm writes it", e);
    return status;
}

void prediction_free(struct prediction *p)
{
    free(p->step_ms);
    free(p->calls_ms);
    *p = (struct prediction){0};
}

void prediction_write(FILE *out, const struct prediction *p, const struct quantity *quantity)
{
    bool calls = quantity->relation == RELATION_CALLS;
    fprintf(out, " Model: %s, %s%s.",
            calls
                ? "messages and sums of the slowest rank"
                : "the base's step divided among the ranks, plus messages and sums without overlap",
            p->words, calls && p->by_rate ? ", with beta and delay of the spec between hosts" : "");
}

double prediction_value(const struct prediction *p, const struct summary *s, size_t point,
                        const struct quantity *quantity)
{
    const struct point_summary *own = &s->points[point], *base = &s->points[own->base];
    double speedup = cell_number(base, COLUMN_step_ms_median) / p->step_ms[point] *
                     config_images(&own->point->config) / config_images(&base->point->config);
    switch (quantity->relation) {
    case RELATION_CALLS:
        return p->calls_ms[point];
    case RELATION_STEP:
        return p->step_ms[point];
    case RELATION_RATE:
        return 1e3 * config_images(&own->point->config) / p->step_ms[point];
    case RELATION_SPEEDUP:
        return speedup;
    case RELATION_EFFICIENCY:
        return 100 * speedup * base->cores / own->cores;
    case RELATION_NONE:
        break;
    }
    return NAN;
}
