#include "bench/compare/repeats.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bench/base/log.h"
#include "bench/runner/runs.h"
#include "kernels/base/mem.h"

/* ---- Noise floor ---- */

const struct side_point *repeats_find_point(const struct side *side, const struct side_point *p)
{
    for (size_t i = 0; i < side->n; i++)
        if (strcmp(side->points[i].id, p->id) == 0 && side->points[i].n > 0)
            return &side->points[i];
    return NULL;
}

/* For each point: the trimmed mean of the logarithms of its launches' values, and the variance of
 * this mean, in a run and in each of its repetitions. Contains only points whose mean is finite in
 * all of these runs. */
struct rows {
    /* [points, k] trimmed means of the logarithms, and their variances: one row per point. Column 0
     * is for the run, columns 1 to k - 1 are for its repetitions */
    double *logs, *variances;
    double *launches; /* scratch: logarithms of one point's values in one run, one per launch */
    size_t points, k;
};

/* Computes the trimmed mean of the logarithms of p's values, and the variance of this mean. Stores
 * both in column r of row `rows->points`. Returns false if `p` is NULL or the mean is not
 * finite. */
static bool take_cell(struct rows *rows, size_t r, const struct side_point *p)
{
    if (p == NULL)
        return false;
    for (size_t i = 0; i < p->n; i++)
        rows->launches[i] = log(p->values[i]);
    struct location at = stats_trimmed(rows->launches, p->n);
    rows->logs[rows->points * rows->k + r] = at.mean;
    rows->variances[rows->points * rows->k + r] = at.variance;
    return isfinite(at.mean);
}

static void take_row(struct rows *rows, const struct side_point *p, const struct side *run)
{
    bool whole = p->n > 0 && take_cell(rows, 0, p);
    for (size_t r = 0; r < run->n_repeats && whole; r++)
        whole = take_cell(rows, r + 1, repeats_find_point(&run->repeats[r], p));
    rows->points += whole;
}

static size_t most_launches(struct side *run)
{
    size_t most = 1;
    for (size_t r = 0; r <= run->n_repeats; r++) {
        const struct side *side = side_run(run, r);
        for (size_t i = 0; i < side->n; i++)
            most = side->points[i].n > most ? side->points[i].n : most;
    }
    return most;
}

/* Returns whether an earlier point has the same identity. Such points are cases that share
 * launches, so only the first one is used. */
static bool has_before(const struct side *run, size_t i)
{
    for (size_t k = 0; k < i; k++)
        if (strcmp(run->points[k].id, run->points[i].id) == 0)
            return true;
    return false;
}

enum status repeats_add(struct noise_floor *floor, struct side *run, struct error *e)
{
    struct rows rows = {.k = run->n_repeats + 1};
    size_t cells = run->n * rows.k;
    TRY(MEM_NEW(rows.logs, 2 * cells + most_launches(run), "the repetitions of a run", e));
    rows.variances = rows.logs + cells;
    rows.launches = rows.variances + cells;
    for (size_t i = 0; i < run->n; i++)
        if (!has_before(run, i))
            take_row(&rows, &run->points[i], run);
    floor_add(floor, rows.logs, rows.variances, rows.points, rows.k);
    free(rows.logs);
    return OK;
}

/* ---- Reading ---- */

static bool is_side(const char *path, const struct side *sides, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (strcmp(sides[i].path, path) == 0)
            return true;
    return false;
}

static size_t find_run(const struct runs *runs, const struct side *side)
{
    size_t i = 0;
    while (i < runs->n && strcmp(runs->all[i].path, side->path) != 0)
        i++;
    return i;
}

/* Adds `run` as a repetition of `own`. Skips the run silently if a table is missing, and with a
 * warning if a table is unreadable or invalid. */
static enum status add_repeat(struct side *own, const struct run *run, const struct compared *what,
                              struct error *e)
{
    struct side *side = &own->repeats[own->n_repeats];
    struct error why;
    enum status status = side_read(side, run->name, run->path, what, &why);
    if (status == OK) {
        own->n_repeats++;
        return OK;
    }
    side_free(side);
    if (status == ERR_MEMORY) {
        *e = why;
        return status;
    }
    if (status != ERR_ARGUMENT)
        log_print(LOG_WARNING, "%s:%d: %s; leaving this repetition out", why.file, why.line,
                  why.text);
    return OK;
}

static enum status read_repeats(struct side *side, const struct runs *runs, size_t own,
                                const struct side *sides, size_t n, const struct compared *what,
                                struct error *e)
{
    TRY(MEM_NEW(side->repeats, runs->n, "the repetitions of a run", e));
    for (size_t i = 0; i < runs->n; i++)
        if (runs->all[i].repeats == runs->all[own].repeats && !is_side(runs->all[i].path, sides, n))
            TRY(add_repeat(side, &runs->all[i], what, e));
    return OK;
}

static bool is_counted(const struct runs *runs, size_t own, const struct side *sides, size_t before)
{
    for (size_t i = 0; i < before; i++) {
        size_t other = find_run(runs, &sides[i]);
        if (other < runs->n && runs->all[other].repeats == runs->all[own].repeats)
            return true;
    }
    return false;
}

static enum status find_repeats(struct side *sides, size_t n, size_t side,
                                const struct compared *what, struct error *e)
{
    char folder[PATH_BYTES];
    struct runs runs = {.n = 0};
    const char *path = sides[side].path, *slash = strrchr(path, '/');
    if (slash == NULL)
        return OK;
    TRY(path_format(folder, e, "%.*s", (int)(slash - path), path));
    enum status status = runs_read(&runs, folder, e);
    size_t own = find_run(&runs, &sides[side]);
    if (status == OK && own < runs.n && !is_counted(&runs, own, sides, side))
        status = read_repeats(&sides[side], &runs, own, sides, n, what, e);
    runs_free(&runs);
    return status;
}

enum status repeats_find(struct side *sides, size_t n, const struct compared *what, struct error *e)
{
    for (size_t i = 0; i < n; i++)
        TRY(find_repeats(sides, n, i, what, e));
    return OK;
}
