/* Figures: gnuplot as a program, a script from plots/, the numbers from summary.csv. What a script
 * cannot read from that file (caption, series, ticks) it gets as assignments; plots/style.gp lists
 * them. */
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench/collect/caption.h"
#include "bench/collect/collect.h"
#include "bench/collect/series.h"
#include "bench/collect/summary.h"

extern char **environ;

/* --- Assignments
 * ---------------------------------------------------------------------------------- */

/* In single quotes gnuplot interprets nothing: neither backslashes, nor backquotes, nor macros. */
static void define_text(FILE *out, const char *name, const char *value)
{
    fprintf(out, "%s='", name);
    for (; *value; value++) {
        if (*value == '\'')
            fputc('\'', out);
        fputc((unsigned char)*value < ' ' ? ' ' : *value, out);
    }
    fputs("'; ", out);
}

static void define_number(FILE *out, const char *name, double value)
{
    char text[TEXT_NUMBER];
    fprintf(out, "%s=%s; ", name, isfinite(value) ? text_real(text, value) : "NaN");
}

/* "series2_name" */
static const char *numbered(char text[64], const char *list, size_t k, const char *field)
{
    snprintf(text, 64, "%s%zu%s", list, k, field);
    return text;
}

static long ranks_of(const struct point_summary *p)
{
    return config_int(&p->point->config, OPT_RANKS);
}

static bool has_value(const struct point_summary *p)
{
    return isfinite(p->step_ms.mid);
}

static void define_series(FILE *out, const struct series_list *list, const struct summary *s)
{
    define_number(out, "series_n", (double)list->n);
    for (size_t k = 0; k < list->n; k++) {
        const struct series *series = &list->items[k];
        const struct point_summary *last = &s->points[series->points[series->n - 1]];
        char name[64];
        define_text(out, numbered(name, "series", k + 1, "_name"), series->name);
        define_number(out, numbered(name, "series", k + 1, "_bound"), last->compute_only);
        fprintf(out, "%s='", numbered(name, "series", k + 1, "_points"));
        for (size_t i = 0; i < series->n; i++)
            fprintf(out, "%s ", s->points[series->points[i]].point->id);
        fputs("'; ", out);
    }
}

/* Every rank count of the campaign once, rising, as words. */
static void define_ranks(FILE *out, const struct summary *s)
{
    long rank = 0, first = 0;
    fputs("ranks='", out);
    for (;;) {
        long next = 0;
        for (size_t i = 0; i < s->n; i++)
            if (ranks_of(&s->points[i]) > rank && (next == 0 || ranks_of(&s->points[i]) < next))
                next = ranks_of(&s->points[i]);
        if (next == 0)
            break;
        fprintf(out, "%ld ", next);
        first = first ? first : next;
        rank = next;
    }
    fputs("'; ", out);
    define_number(out, "ranks_min", (double)first);
    define_number(out, "ranks_max", (double)rank);
}

/* Perfect scaling from the base of each series: cores, relative to the base, that a rank brings. */
static void define_ideals(FILE *out, const struct series_list *list, const struct summary *s)
{
    size_t n = 0;
    for (size_t k = 0; k < list->n; k++) {
        const struct point_summary *p = &s->points[list->items[k].points[list->items[k].n - 1]];
        const struct point_summary *base = &s->points[p->base];
        double slope = (double)p->cores / (double)ranks_of(p) / base->cores;
        char name[64];
        if (!has_value(base))
            continue;
        n++;
        define_number(out, numbered(name, "ideal", n, "_slope"), slope);
        define_number(out, numbered(name, "ideal", n, "_ms"), base->step_ms.mid);
    }
    define_number(out, "ideal_n", (double)n);
}

/* --- Points without a value ----------------------------------------------------------------------
 */

/* "failed" where all points at these ranks did, else with the name of the series. */
static void define_missing_point(FILE *out, const struct series *series,
                                 const struct point_summary *p, bool alone, size_t k, size_t nth)
{
    char name[64], text[192];
    snprintf(text, sizeof text, "%s%s%s", alone ? "" : series->name, alone ? "" : ": ", p->status);
    define_number(out, numbered(name, "missing", k, "_ranks"), (double)ranks_of(p));
    define_number(out, numbered(name, "missing", k, "_nth"), (double)nth);
    define_text(out, numbered(name, "missing", k, "_text"), text);
}

/* Whether all points at p's ranks share its fate. */
static bool alike_at_ranks(const struct summary *s, const struct point_summary *p)
{
    for (size_t i = 0; i < s->n; i++)
        if (ranks_of(&s->points[i]) == ranks_of(p) &&
            (has_value(&s->points[i]) || strcmp(s->points[i].status, p->status) != 0))
            return false;
    return true;
}

/* How many points without a value the series before `k` have at these ranks. */
static size_t missing_before(const struct series_list *list, const struct summary *s, size_t k,
                             long ranks)
{
    size_t n = 0;
    for (size_t j = 0; j < k; j++)
        for (size_t i = 0; i < list->items[j].n; i++) {
            const struct point_summary *p = &s->points[list->items[j].points[i]];
            n += ranks_of(p) == ranks && !has_value(p);
        }
    return n;
}

static void define_missing(FILE *out, const struct series_list *list, const struct summary *s)
{
    size_t n = 0;
    for (size_t k = 0; k < list->n; k++)
        for (size_t i = 0; i < list->items[k].n; i++) {
            const struct point_summary *p = &s->points[list->items[k].points[i]];
            size_t nth = missing_before(list, s, k, ranks_of(p));
            bool alone = alike_at_ranks(s, p);
            if (!has_value(p) && !(alone && nth > 0))
                define_missing_point(out, &list->items[k], p, alone, ++n, nth);
        }
    define_number(out, "missing_n", (double)n);
}

static void define_counts(FILE *out, const struct summary *s)
{
    size_t measured = 0, compared = 0, doubtful = 0, oversubscribed = 0;
    for (size_t i = 0; i < s->n; i++) {
        const struct point_summary *p = &s->points[i];
        measured += has_value(p);
        compared += isfinite(p->speedup.mid);
        doubtful += has_value(p) && strcmp(p->status, "ok") != 0;
        oversubscribed += has_value(p) && strstr(p->flags, "oversubscribed");
    }
    define_number(out, "measured_n", (double)measured);
    define_number(out, "compared_n", (double)compared);
    define_number(out, "doubtful_n", (double)doubtful);
    define_number(out, "oversubscribed_n", (double)oversubscribed);
}

/* --- Running gnuplot
 * --------------------------------------------------------------------------------- */

/* What is on its standard error, cut to fit, as one line. */
static void read_messages(int fd, char *text, size_t size)
{
    size_t used = 0;
    char rest[512];
    for (;;) {
        bool full = used + 1 >= size;
        ssize_t n = full ? read(fd, rest, sizeof rest) : read(fd, text + used, size - 1 - used);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            break;
        used += full ? 0 : (size_t)n;
    }
    text[used] = '\0';
    text_clean(text);
}

static int spawn_gnuplot(pid_t *pid, char *const *argv, int errors)
{
    posix_spawn_file_actions_t actions;
    int failed = posix_spawn_file_actions_init(&actions);
    if (failed)
        return failed;
    failed = posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
    if (!failed)
        failed = posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0);
    if (!failed)
        failed = posix_spawn_file_actions_adddup2(&actions, errors, 2);
    if (!failed)
        failed = posix_spawnp(pid, argv[0], &actions, NULL, argv, environ);
    posix_spawn_file_actions_destroy(&actions);
    return failed;
}

static enum status no_gnuplot(const char *why, struct error *e)
{
    return error_set(e, ERR_UNAVAILABLE,
                     "cannot run gnuplot, which draws the figures: %s; install it with "
                     "'apt install gnuplot-nox', 'dnf install gnuplot' or 'brew install gnuplot'",
                     why);
}

/* Where posix_spawnp forks before it looks for the program, the child ends with 127. */
static enum status wait_for_gnuplot(pid_t pid, const char *script, const char *messages,
                                    struct error *e)
{
    int state = 0;
    while (waitpid(pid, &state, 0) < 0)
        if (errno != EINTR)
            return error_set(e, ERR_SYSTEM, "cannot wait for gnuplot: %s", strerror(errno));
    if (WIFEXITED(state) && WEXITSTATUS(state) == 0)
        return OK;
    if (WIFEXITED(state) && WEXITSTATUS(state) == 127)
        return no_gnuplot("not found", e);
    return error_at(e, ERR_SYSTEM, script, 0, 0, "gnuplot failed: %s", messages);
}

/* -d: the figure is the same whatever the user's own gnuplot settings. */
static enum status run_gnuplot(char *definitions, char *script, struct error *e)
{
    char *argv[] = {"gnuplot", "-d", "-e", definitions, script, NULL};
    char messages[512];
    int fds[2];
    pid_t pid;
    if (pipe2(fds, O_CLOEXEC) != 0)
        return error_set(e, ERR_SYSTEM, "no pipe for gnuplot: %s", strerror(errno));
    int failed = spawn_gnuplot(&pid, argv, fds[1]);
    close(fds[1]);
    if (!failed)
        read_messages(fds[0], messages, sizeof messages);
    close(fds[0]);
    return failed ? no_gnuplot(strerror(failed), e) : wait_for_gnuplot(pid, script, messages, e);
}

/* --- One figure
 * ----------------------------------------------------------------------------------------- */

struct drawing {
    const struct summary *summary;
    const struct series_list *series;
    const char *run_dir, *plots_dir;
};

static void define_all(FILE *out, const struct drawing *d, const char *base)
{
    const struct config *config = &d->summary->spec->config;
    char csv[4096];
    snprintf(csv, sizeof csv, "%s/summary.csv", d->run_dir);
    define_text(out, "plots", d->plots_dir);
    define_text(out, "csv", csv);
    define_text(out, "out", base);
    define_text(out, "scaling", config_text(config, OPT_SCALING));
    define_series(out, d->series, d->summary);
    define_ranks(out, d->summary);
    define_ideals(out, d->series, d->summary);
    define_missing(out, d->series, d->summary);
    define_counts(out, d->summary);
}

/* The caption cut into lines, as caption1, caption2 ... */
static enum status define_caption(FILE *out, const struct summary *s, struct error *e)
{
    struct caption caption;
    enum status status = caption_make(&caption, s, e);
    char name[64];
    if (status != OK)
        return status;
    define_number(out, "caption_n", (double)caption.n);
    for (size_t k = 0; k < caption.n; k++)
        define_text(out, numbered(name, "caption", k + 1, ""), caption.lines[k]);
    caption_free(&caption);
    return OK;
}

static const char *const formats[] = {"svg", "png"};
#define FORMATS (sizeof formats / sizeof formats[0])

/* Gives the finished pictures their names: until then the old ones stand. */
static enum status rename_pictures(const char *run_dir, const char *figure, const char *base,
                                   struct error *e)
{
    for (size_t i = 0; i < FORMATS; i++) {
        char from[4200], to[4200];
        snprintf(from, sizeof from, "%s.%s", base, formats[i]);
        snprintf(to, sizeof to, "%s/%s.%s", run_dir, figure, formats[i]);
        if (rename(from, to) != 0)
            return error_set(e, ERR_SYSTEM, "cannot write %s: %s", to, strerror(errno));
    }
    return OK;
}

static void remove_pictures(const char *base)
{
    for (size_t i = 0; i < FORMATS; i++) {
        char path[4200];
        snprintf(path, sizeof path, "%s.%s", base, formats[i]);
        unlink(path);
    }
}

static enum status draw(const struct drawing *d, const char *figure, struct error *e)
{
    char base[4096], script[4096], *definitions = NULL;
    size_t size = 0;
    snprintf(base, sizeof base, "%s/.%s", d->run_dir, figure);
    snprintf(script, sizeof script, "%s/%s.gp", d->plots_dir, figure);
    FILE *out = open_memstream(&definitions, &size);
    if (!out)
        return error_set(e, ERR_MEMORY, "no memory for figure %s", figure);
    define_all(out, d, base);
    enum status status = define_caption(out, d->summary, e);
    if (fclose(out) != 0 && status == OK)
        status = error_set(e, ERR_MEMORY, "no memory for figure %s", figure);
    if (status == OK)
        status = run_gnuplot(definitions, script, e);
    free(definitions);
    if (status == OK)
        status = rename_pictures(d->run_dir, figure, base, e);
    if (status != OK)
        remove_pictures(base);
    return status;
}

enum status figures_draw(const struct summary *s, const char *run_dir, const char *plots_dir,
                         struct error *e)
{
    const struct value *figures = &s->spec->config.values[OPT_FIGURES];
    struct series_list series;
    struct drawing drawing = {s, &series, run_dir, plots_dir};
    enum status status = series_collect(&series, s, e);
    for (size_t i = 0; i < figures->n && status == OK; i++)
        status = draw(&drawing, figures->texts[i], e);
    series_free(&series);
    return status;
}
