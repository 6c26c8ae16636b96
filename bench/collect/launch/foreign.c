/* Reads a launch of a user's program: its time and the metrics in its output. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench/collect/collect.h"
#include "bench/collect/resources.h"
#include "bench/spec/foreign.h"
#include "bench/spec/pattern.h"
#include "bench/spec/value.h"
#include "kernels/base/mem.h"

bool launch_has_records(const char *dir, const struct point *point)
{
    char path[4200];
    snprintf(path, sizeof path, "%s/rank.0.jsonl", dir);
    return !(config_is_foreign(&point->config) || config_is_simulated(&point->config)) ||
           access(path, F_OK) == 0;
}

double point_work(const struct spec *spec, const struct point *point, double images)
{
    long scaling = config_int(&spec->config, OPT_SCALING);
    bool grows = scaling == SCALING_weak || scaling == SCALING_epoch;
    return images > 0 ? images : grows ? config_number(&point->config, OPT_RANKS) : 1;
}

/* ---- Output ---- */

/* constant part (s) of the processor time allowed for matching a log; the rest grows with the
 * log */
enum { MATCH_S = 1 };
/* matching speed that the time limit assumes (bytes per second of processor time); the bytes of a
 * line count once for each pattern */
enum { BYTES_PER_S = 1000000 };

struct metric {
    struct pattern *pattern;
    int line; /* number of the last matching line; 0: no line matched */
    char text[64];
};

/* number of the log's last nonempty lines that an error message quotes */
enum { LAST_LINES = 3 };

/* State of searching a launch's log for the user's metrics. */
struct reading {
    const struct value *specs;
    const char *path;
    struct metric *metrics;
    double *values;            /* [metrics] value in each metric's last matching line; NAN: no line
                                  matched, or the match is no number */
    clock_t until;             /* process time (clock()) at which the matching of patterns to lines
                                  is abandoned */
    int line;                  /* number of the current line, from 1 */
    char last[LAST_LINES][64]; /* last nonempty lines of the log, newest first */
};

/* exceeds the length of any double printed with %f */
enum { NUMBER_BYTES = 512 };

/* Returns the length of the fraction, such as ".5", that follows the first `length` characters of
 * `text`. Returns 0 if there is no fraction, or if the first `length` characters are not all
 * digits. */
static size_t decimals_after(const char *text, size_t length)
{
    static const char ten[] = "0123456789";
    size_t n = text[length] == '.' ? strspn(text + length + 1, ten) : 0;
    return strspn(text, ten) == length && n > 0 ? n + 1 : 0;
}

/* Parses the first `length` characters of `text` as a number. NAN: not a number, or only the
 * integer part of one, such as the "12" of "12.5". */
static double number_of(const char *text, size_t length)
{
    char digits[NUMBER_BYTES] = "";
    double number;
    if (length < sizeof digits && decimals_after(text, length) == 0)
        memcpy(digits, text, length);
    return strlen(digits) == length && number_parse(digits, &number) ? number : NAN;
}

static enum status match_line(struct reading *r, size_t metric, const char *line, size_t length,
                              struct error *e)
{
    struct pattern_value found;
    r->until += (clock_t)length * CLOCKS_PER_SEC / BYTES_PER_S;
    struct metric *m = &r->metrics[metric];
    enum status status = pattern_find(m->pattern, line, length, r->until, &found, e);
    if (status == ERR_DATA)
        return error_at(e, ERR_DATA, r->path, 0, 0,
                        "line %d: workload.metrics: %s; the pattern is '%s'", r->line, e->text,
                        r->specs->texts[metric]);
    if (status != OK || found.text == NULL)
        return status;
    r->values[metric] = number_of(found.text, found.size);
    m->line = r->line;
    snprintf(m->text, sizeof m->text, "%.*s",
             (int)(found.size + decimals_after(found.text, found.size)), found.text);
    return OK;
}

static void note_line(struct reading *r, const char *line)
{
    if (line[strspn(line, " \t\r")] == '\0')
        return;
    memmove(r->last[1], r->last[0], sizeof r->last - sizeof *r->last);
    snprintf(r->last[0], sizeof *r->last, "%s", line);
}

static enum status read_lines(struct reading *r, FILE *log, struct error *e)
{
    size_t size = 0;
    ssize_t length;
    char *line = NULL;
    enum status status = OK;
    while (status == OK && (length = getline(&line, &size, log)) >= 0) {
        length -= length > 0 && line[length - 1] == '\n';
        line[length] = '\0';
        note_line(r, line);
        r->line++;
        for (size_t i = 0; i < r->specs->n && status == OK; i++)
            status = match_line(r, i, line, (size_t)length, e);
    }
    free(line);
    return status;
}

static enum status error_no_line(const struct reading *r, const char *pattern, struct error *e)
{
    char lines[sizeof r->last + 16] = "";
    for (int i = LAST_LINES; i-- > 0;)
        if (r->last[i][0] != '\0')
            snprintf(lines + strlen(lines), sizeof lines - strlen(lines), "%s'%s'",
                     lines[0] != '\0' ? ", " : "", r->last[i]);
    return error_at(e, ERR_DATA, r->path, 0, 0, "workload.metrics: no line matches '%s'; %s%s",
                    pattern, lines[0] != '\0' ? "the last lines are " : "the output is empty",
                    lines);
}

static enum status check_values(const struct reading *r, struct error *e)
{
    for (size_t i = 0; i < r->specs->n; i++) {
        const struct metric *m = &r->metrics[i];
        if (m->line == 0)
            return error_no_line(r, r->specs->texts[i], e);
        if (isnan(r->values[i]))
            return error_at(
                e, ERR_DATA, r->path, 0, 0,
                "line %d: workload.metrics: expected a number, found '%s' with the "
                "pattern '%s'. Correct the pattern so that its group matches the whole number and "
                "nothing else",
                m->line, m->text, r->specs->texts[i]);
    }
    return OK;
}

static enum status read_log(struct reading *r, struct error *e)
{
    FILE *log = fopen(r->path, "re");
    if (log == NULL)
        return error_at(e, ERR_DATA, r->path, 0, 0, "%s", strerror(errno));
    enum status status = read_lines(r, log, e);
    fclose(log);
    THEN(status, check_values(r, e));
    return status;
}

enum status launch_metrics(const char *dir, const struct config *config, double *values,
                           struct error *e)
{
    char path[4200];
    struct reading r = {.specs = &config->values[OPT_METRICS],
                        .path = path,
                        .values = values,
                        .until = clock() + MATCH_S * CLOCKS_PER_SEC};
    size_t n = r.specs->n, at;
    if (n == 0)
        return OK;
    snprintf(path, sizeof path, "%s/log.txt", dir);
    enum status status = MEM_NEW(r.metrics, n, "the metrics of a launch", e);
    for (size_t i = 0; i < n && status == OK; i++) {
        values[i] = NAN;
        status = pattern_open(&r.metrics[i].pattern, r.specs->texts[i], &at, e);
    }
    THEN(status, read_log(&r, e));
    for (size_t i = 0; i < n && r.metrics != NULL; i++)
        pattern_free(r.metrics[i].pattern);
    free(r.metrics);
    return status;
}

/* ---- Launches ---- */

/* Computes the time of a step (ms): the metric that workload.time names, or the launch's wall
 * time. */
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
        status = error_at(e, ERR_DATA, dir, 0, 0, "workload.time: expected %s above 0, found %g",
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
    if (config_is_simulated(&point->config))
        return launch_simulated_read(dir, result, e);
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
