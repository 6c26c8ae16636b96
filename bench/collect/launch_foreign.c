/* What a launch of a foreign program comes to: its time, and the metrics that its output tells. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench/collect/collect.h"
#include "bench/collect/resources.h"
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

/* The number that the group of the pattern holds in this line; NAN where it does not match. */
static double number_in(const struct foreign_metric *metric, const char *line)
{
    regmatch_t match[2];
    char text[64];
    double number;
    if (regexec(&metric->regex, line, 2, match, 0) != 0 || match[1].rm_so < 0)
        return NAN;
    snprintf(text, sizeof text, "%.*s", (int)(match[1].rm_eo - match[1].rm_so),
             line + match[1].rm_so);
    return number_parse(text, &number) ? number : NAN;
}

static void read_lines(FILE *log, const struct foreign_metric *metrics, size_t n, double *values)
{
    char *line = NULL;
    size_t size = 0;
    ssize_t length;
    while ((length = getline(&line, &size, log)) >= 0) {
        if (length > 0 && line[length - 1] == '\n')
            line[length - 1] = '\0';
        for (size_t i = 0; i < n; i++) {
            double number = number_in(&metrics[i], line);
            values[i] = isnan(number) ? values[i] : number;
        }
    }
    free(line);
}

static enum status check_values(const struct config *config, const double *values, const char *path,
                                struct error *e)
{
    const struct value *wanted = &config->values[OPT_METRICS];
    for (size_t i = 0; i < wanted->n; i++)
        if (isnan(values[i]))
            return error_at(e, ERR_DATA, path, 0, 0,
                            "no line has a number where workload.metrics looks for it: '%s'; its "
                            "group holds a number alone, without its unit, as ([0-9.]+) does",
                            wanted->texts[i]);
    return OK;
}

static enum status read_log(const char *path, const struct config *config,
                            const struct foreign_metric *metrics, double *values, struct error *e)
{
    size_t n = config->values[OPT_METRICS].n;
    FILE *log = fopen(path, "re");
    if (log == NULL)
        return error_at(e, ERR_DATA, path, 0, 0, "%s", strerror(errno));
    for (size_t i = 0; i < n; i++)
        values[i] = NAN;
    read_lines(log, metrics, n, values);
    fclose(log);
    return check_values(config, values, path, e);
}

enum status launch_metrics(const char *dir, const struct config *config, double *values,
                           struct error *e)
{
    struct foreign_metric *metrics;
    size_t n = config->values[OPT_METRICS].n, open = 0;
    char path[4200];
    enum status status = OK;
    if (n == 0)
        return OK;
    TRY(MEM_NEW(metrics, n, "the metrics of a launch", e));
    snprintf(path, sizeof path, "%s/log.txt", dir);
    while (open < n && status == OK) {
        status = foreign_metric_open(&metrics[open], config, open, e);
        open += status == OK;
    }
    THEN(status, read_log(path, config, metrics, values, e));
    while (open > 0)
        regfree(&metrics[--open].regex);
    free(metrics);
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
