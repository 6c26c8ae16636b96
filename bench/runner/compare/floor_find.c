/* The repetitions of runs, as their campaign's folder has them. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bench/runner/compare/floor.h"
#include "bench/runner/runs.h"
#include "kernels/base/mem.h"

/* Repetitions of one run: itself first. */
struct group {
    struct side *sides;
    size_t n;
};

static const struct side_point *find_point(const struct side *side, const struct side_point *p)
{
    for (size_t i = 0; i < side->n; i++)
        if (strcmp(side->points[i].id, p->id) == 0 && side->points[i].n > 0)
            return &side->points[i];
    return NULL;
}

/* A row of logarithms; false where one of the runs does not have the point. */
static bool take_row(double *logs, const struct group *group, const struct side_point *p)
{
    for (size_t r = 0; r < group->n; r++) {
        const struct side_point *own = find_point(&group->sides[r], p);
        double median = own != NULL ? stats_median(own->values, own->n) : NAN;
        if (!(median > 0))
            return false;
        logs[r] = log(median);
    }
    return true;
}

static enum status add_group(struct noise_floor *floor, const struct group *group, struct error *e)
{
    double *logs;
    size_t points = 0;
    const struct side *first = &group->sides[0];
    TRY(MEM_NEW(logs, first->n * group->n, "the repetitions of a run", e));
    for (size_t i = 0; i < first->n; i++)
        points += take_row(logs + points * group->n, group, &first->points[i]);
    floor_add(floor, logs, points, group->n);
    free(logs);
    return OK;
}

static bool is_side(const char *path, const struct side *const *sides, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (strcmp(sides[i]->path, path) == 0)
            return true;
    return false;
}

/* Index of the run in the folder of runs; runs->n where it is none of them. */
static size_t find_run(const struct runs *runs, const struct side *side)
{
    size_t i = 0;
    while (i < runs->n && strcmp(runs->all[i].path, side->path) != 0)
        i++;
    return i;
}

/* A run that has not ended has no tables yet: it is none of the repetitions. */
static enum status read_group(struct group *group, const struct runs *runs, size_t own,
                              const struct side *const *sides, size_t n,
                              const struct compared *what, struct error *e)
{
    struct error why = {.status = OK};
    const struct run *self = &runs->all[own];
    TRY(MEM_NEW(group->sides, runs->n, "the repetitions of a run", e));
    TRY(side_read(&group->sides[group->n++], self->name, self->path, what, e));
    for (size_t i = 0; i < runs->n; i++) {
        const struct run *run = &runs->all[i];
        if (run->repeats != self->repeats || is_side(run->path, sides, n))
            continue;
        if (side_read(&group->sides[group->n], run->name, run->path, what, &why) == OK)
            group->n++;
        else
            side_free(&group->sides[group->n]);
    }
    return OK;
}

/* Whether one of the sides before this one repeats the same run. */
static bool is_counted(const struct runs *runs, size_t own, const struct side *const *sides,
                       size_t before)
{
    for (size_t i = 0; i < before; i++) {
        size_t other = find_run(runs, sides[i]);
        if (other < runs->n && runs->all[other].repeats == runs->all[own].repeats)
            return true;
    }
    return false;
}

static enum status add_runs(struct noise_floor *floor, const struct runs *runs,
                            const struct side *const *sides, size_t n, size_t side,
                            const struct compared *what, struct error *e)
{
    struct group group = {.n = 0};
    size_t own = find_run(runs, sides[side]);
    if (own == runs->n || is_counted(runs, own, sides, side))
        return OK;
    enum status status = read_group(&group, runs, own, sides, n, what, e);
    THEN(status, add_group(floor, &group, e));
    for (size_t i = 0; i < group.n; i++)
        side_free(&group.sides[i]);
    free(group.sides);
    return status;
}

static enum status add_side(struct noise_floor *floor, const struct side *const *sides, size_t n,
                            size_t side, const struct compared *what, struct error *e)
{
    char folder[PATH_BYTES];
    struct runs runs = {.n = 0};
    const char *path = sides[side]->path, *slash = strrchr(path, '/');
    if (slash == NULL)
        return OK;
    TRY(path_format(folder, e, "%.*s", (int)(slash - path), path));
    enum status status = runs_read(&runs, folder, e);
    THEN(status, add_runs(floor, &runs, sides, n, side, what, e));
    runs_free(&runs);
    return status;
}

enum status floor_find(struct noise_floor *floor, const struct side *const *sides, size_t n,
                       const struct compared *what, struct error *e)
{
    *floor = (struct noise_floor){.repetitions = 0};
    for (size_t i = 0; i < n; i++)
        TRY(add_side(floor, sides, n, i, what, e));
    return OK;
}
