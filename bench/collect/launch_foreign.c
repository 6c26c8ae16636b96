/* What a launch of a foreign program comes to: its time, and the metrics that its output tells. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bench/collect/collect.h"
#include "bench/collect/resources.h"
#include "bench/spec/bounded.h"
#include "bench/spec/foreign.h"
#include "bench/spec/value.h"
#include "kernels/base/mem.h"

bool launch_has_records(const char *dir, const struct point *point)
{
    char path[4200];
    snprintf(path, sizeof path, "%s/rank.0.jsonl", dir);
    return !config_is_foreign(&point->config) || access(path, F_OK) == 0;
}

double point_work(const struct spec *spec, const struct point *point, double images)
{
    long scaling = config_int(&spec->config, OPT_SCALING);
    bool grows = scaling == SCALING_weak || scaling == SCALING_epoch;
    return images > 0 ? images : grows ? config_number(&point->config, OPT_RANKS) : 1;
}

/* ---- Output ---- */

/* A log that a process of its own reads: where it is, and what it has found. */
struct reading {
    const struct config *config;
    char path[4200];
    int line;      /* that is matched, from 1 */
    size_t metric; /* that it is held against */
    enum status status;
    struct error error;
    double values[]; /* of the metrics, NAN: not found yet */
};

static enum status refuse_line(const struct reading *r, const char *why, struct error *e)
{
    return error_at(e, ERR_DATA, r->path, 0, 0,
                    "line %d: workload.metrics: '%s' cannot be held against it: %s", r->line,
                    r->config->values[OPT_METRICS].texts[r->metric], why);
}

/* More than the longest number that C writes without an exponent. */
enum { NUMBER_BYTES = 512 };

/* The number that the group of the pattern holds in this line, NAN where that is none; as it was where the line does
 * not match. */
static enum status match_line(struct reading *r, const struct foreign_metric *metric,
                              const char *line)
{
    regmatch_t match[2];
    char text[128], digits[NUMBER_BYTES] = "";
    double *number = &r->values[r->metric];
    int code = regexec(&metric->regex, line, 2, match, 0);
    if (code != 0 && code != REG_NOMATCH) {
        regerror(code, &metric->regex, text, sizeof text);
        return refuse_line(r, text, &r->error);
    }
    if (code != 0)
        return OK;
    int length = match[1].rm_so < 0 ? 0 : (int)(match[1].rm_eo - match[1].rm_so);
    if (length > 0 && length < NUMBER_BYTES)
        snprintf(digits, sizeof digits, "%.*s", length, line + match[1].rm_so);
    if (!number_parse(digits, number))
        *number = NAN;
    return OK;
}

static enum status read_lines(struct reading *r, FILE *log, const struct foreign_metric *metrics)
{
    size_t n = r->config->values[OPT_METRICS].n, size = 0;
    ssize_t length;
    char *line = NULL;
    enum status status = OK;
    while (status == OK && (length = getline(&line, &size, log)) >= 0) {
        if (length > 0 && line[length - 1] == '\n')
            line[length - 1] = '\0';
        r->line++;
        for (size_t i = 0; i < n && status == OK; i++) {
            r->metric = i;
            status = match_line(r, &metrics[i], line);
        }
    }
    free(line);
    return status;
}

static enum status check_values(struct reading *r)
{
    const struct value *wanted = &r->config->values[OPT_METRICS];
    for (size_t i = 0; i < wanted->n; i++)
        if (isnan(r->values[i]))
            return error_at(&r->error, ERR_DATA, r->path, 0, 0,
                            "no line, or not the last that matches, has a number where "
                            "workload.metrics looks for it: '%s'; its group holds a number alone, "
                            "without its unit, as ([0-9.]+) does",
                            wanted->texts[i]);
    return OK;
}

static enum status read_log(struct reading *r, const struct foreign_metric *metrics)
{
    FILE *log = fopen(r->path, "re");
    if (log == NULL)
        return error_at(&r->error, ERR_DATA, r->path, 0, 0, "%s", strerror(errno));
    enum status status = read_lines(r, log, metrics);
    fclose(log);
    THEN(status, check_values(r));
    return status;
}

static void read_apart(void *shared)
{
    struct reading *r = shared;
    struct foreign_metric *metrics;
    size_t n = r->config->values[OPT_METRICS].n, open = 0;
    enum status status = MEM_NEW(metrics, n, "the metrics of a launch", &r->error);
    for (; open < n && status == OK; open += status == OK)
        status = foreign_metric_open(&metrics[open], r->config, open, &r->error);
    THEN(status, read_log(r, metrics));
    while (open > 0)
        regfree(&metrics[--open].regex);
    free(metrics);
    r->status = status;
}

/* A megabyte a second at least, of each pattern. */
static double seconds_for(const struct reading *r)
{
    struct stat log;
    double bytes = stat(r->path, &log) == 0 ? (double)log.st_size : 0;
    return FOREIGN_SECONDS + 1e-6 * bytes * r->config->values[OPT_METRICS].n;
}

static enum status run_reading(struct reading *r, struct error *e)
{
    enum bounded_end end;
    char why[128];
    double seconds = seconds_for(r);
    TRY(bounded_run(&end, read_apart, r, seconds, e));
    if (end == BOUNDED_DONE && r->status != OK)
        *e = r->error;
    if (end == BOUNDED_DONE)
        return r->status;
    if (end == BOUNDED_LOST)
        return refuse_line(r, "the C library's matcher dies of it", e);
    snprintf(
        why, sizeof why,
        "it takes more than the %.0f s that this output may; a repetition inside of a repeated "
        "group does so",
        ceil(seconds));
    return refuse_line(r, why, e);
}

enum status launch_metrics(const char *dir, const struct config *config, double *values,
                           struct error *e)
{
    size_t n = config->values[OPT_METRICS].n, size = sizeof(struct reading) + n * sizeof *values;
    void *shared;
    if (n == 0)
        return OK;
    TRY(bounded_new(&shared, size, e));
    struct reading *r = shared;
    r->config = config;
    snprintf(r->path, sizeof r->path, "%s/log.txt", dir);
    for (size_t i = 0; i < n; i++)
        r->values[i] = NAN;
    enum status status = run_reading(r, e);
    if (status == OK)
        memcpy(values, r->values, n * sizeof *values);
    bounded_free(shared, size);
    return status;
}

/* ---- A launch ---- */

/* What the point is judged by. */
static enum status find_time(double *step_ms, const char *dir, const struct config *config,
                             double wall_s, struct error *e)
{
    double *values, ms;
    size_t metric, n = config->values[OPT_METRICS].n;
    TRY(foreign_time(config, &metric, &ms, e));
    TRY(MEM_NEW(values, n + 1, "the metrics of a launch", e));
    enum status status = launch_metrics(dir, config, values, e);
    values[n] = wall_s;
    *step_ms = values[metric] * ms;
    if (status == OK && !(*step_ms > 0))
        status = error_at(e, ERR_DATA, dir, 0, 0, "workload.time: %s is %g, no time",
                          config_text(config, OPT_JUDGED), values[metric]);
    free(values);
    return status;
}

enum status launch_take(const char *dir, const struct point *point, double wall_s,
                        struct launch_result *result, struct error *e)
{
    int ranks = (int)config_int(&point->config, OPT_RANKS);
    if (config_is_elastic(&point->config))
        return launch_take_elastic(dir, ranks, result, e);
    if (launch_has_records(dir, point))
        return launch_read(dir, ranks, result, e);
    launch_clear(result);
    result->ranks = ranks;
    result->steps = 1;
    snprintf(result->compute, sizeof result->compute, "real");
    result->last_rank = -1;
    result->weights_checked = 0;
    resources_take_traffic(result, dir, NULL, ranks);
    return find_time(&result->step_ms, dir, &point->config, wall_s, e);
}
