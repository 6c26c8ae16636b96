#include "bench/figures/caption.h"

#include <string.h>

#include "bench/collect/summary.h"

/* ---- Points without a good value ---- */

static bool share_fate(const struct point_summary *a, const struct point_summary *b)
{
    return strcmp(a->status, b->status) == 0 && strcmp(a->reason, b->reason) == 0;
}

/* Returns whether the point is not ok and no earlier point shares its status and reason. */
static bool is_first_of_fate(const struct summary *s, size_t point)
{
    for (size_t i = 0; i < point; i++)
        if (share_fate(&s->points[i], &s->points[point]))
            return false;
    return s->points[point].outcome != POINT_ok;
}

/* Lists all points that have the status and reason of `point`: " Skipped: ranks=4, ranks=8 (8
 * ranks, 2 cores)." */
static void write_fate(FILE *out, const struct summary *s, size_t point)
{
    const struct point_summary *p = &s->points[point];
    const int reason_max = 160;
    size_t n = 0;
    fprintf(out, " %c%s", p->status[0] - 'a' + 'A', p->status + 1);
    for (size_t i = point; i < s->n; i++)
        if (share_fate(p, &s->points[i]))
            fprintf(out, "%s %s", n++ > 0 ? "," : ":", s->points[i].point->label);
    fprintf(out, " (%.*s%s).", reason_max, p->reason,
            strlen(p->reason) > (size_t)reason_max ? "..." : "");
}

/* Lists the points that are not ok, grouped by status and reason. Lists at most 8 groups and counts
 * the other groups. */
static void write_fates(FILE *out, const struct summary *s)
{
    const size_t listed_max = 8;
    size_t listed = 0;
    for (size_t i = 0; i < s->n; i++)
        if (is_first_of_fate(s, i) && listed++ < listed_max)
            write_fate(out, s, i);
    if (listed > listed_max)
        fprintf(out, " Further reasons: %zu, in the table.", listed - listed_max);
}

/* Writes how many points have each status other than ok: " Not ok: 3 failed, 2 skipped." */
static void write_counts(FILE *out, const struct summary *s)
{
    size_t n[POINT_STATUSES] = {0}, listed = 0;
    for (size_t i = 0; i < s->n; i++)
        n[s->points[i].outcome]++;
    for (int status = 0; status < POINT_STATUSES; status++)
        if (status != POINT_ok && n[status] > 0)
            fprintf(out, "%s%zu %s", listed++ > 0 ? ", " : " Not ok: ", n[status],
                    point_status_names()[status]);
    fputs(listed > 0 ? "." : "", out);
}

void missing_write(FILE *out, const struct summary *s, bool full)
{
    (full ? write_fates : write_counts)(out, s);
}

/* Writes the points that lack a valid accuracy run of a seed, with their numbers of missing and of
 * requested seeds: " Seeds missing: ranks=2 (2 of 3)." */
void missing_write_seeds(FILE *out, const struct summary *s)
{
    size_t listed = 0;
    for (size_t i = 0; i < s->n; i++) {
        const struct point_summary *p = &s->points[i];
        if (!point_lacks_seeds(p))
            continue;
        fprintf(out, "%s %s (%zu of %zu)", listed++ > 0 ? "," : " Seeds missing:", p->point->label,
                p->seeds_missing, p->seeds);
    }
    fputs(listed > 0 ? "." : "", out);
}

/* ---- Disturbed launches, weights that differ ---- */

/* Returns whether an earlier shown point has the same launches: equal points of several cases are
 * launched only once. */
static bool is_twin(const struct figure_data *d, size_t point)
{
    for (size_t i = 0; i < point; i++)
        if (d->shown[i] && d->s->points[i].point->twin == d->s->points[point].point->twin)
            return true;
    return false;
}

/* Writes how many launches behind the shown points were disturbed, if any: " 3 of 54 launches
 * disturbed." */
void disturbed_write(FILE *out, const struct figure_data *d)
{
    size_t disturbed = 0, launches = 0;
    for (size_t i = 0; i < d->s->n; i++) {
        if (!d->shown[i] || is_twin(d, i))
            continue;
        disturbed += d->s->points[i].noise.disturbed;
        launches += d->s->points[i].launches;
    }
    if (disturbed > 0)
        fprintf(out, " %zu of %zu launches disturbed.", disturbed, launches);
}

/* Lists the options of a point that reproduce a flaw of a published program: "train.broadcast_init:
 * false". */
static const char *name_flaws(char *text, size_t size, const struct point_summary *p)
{
    text[0] = '\0';
    for (size_t i = 0; i < OPTION_COUNT; i++) {
        const struct spec_option *option = option_get((enum option_id)i);
        const char *own = config_text(&p->point->config, option->id);
        if (!option->flaw || strcmp(own, option->preset) == 0)
            continue;
        text_join(text, size, ", ", option->key);
        text_join(text, size, ": ", own);
    }
    return text;
}

static bool differs_by_design(const struct point_summary *p)
{
    return strstr(p->flags, "by_design") != NULL;
}

/* Writes the points whose weights differ by design, for example: " By design weights differ between
 * ranks (train.broadcast_init: false): naive ranks=2.". If there are many such points, writes only
 * their number. Writes nothing if there is none. */
void flaws_write(FILE *out, const struct summary *s)
{
    enum { NAMED = 3 };
    char flaws[160];
    size_t n = summary_count(s, differs_by_design), listed = 0;
    for (size_t i = 0; i < s->n && (n <= NAMED || listed == 0); i++) {
        const struct point_summary *p = &s->points[i];
        if (!differs_by_design(p))
            continue;
        if (listed++ == 0)
            fprintf(out, " By design weights differ between ranks (%s): ",
                    name_flaws(flaws, sizeof flaws, p));
        if (n > NAMED)
            fprintf(out, "%zu points, flagged in summary.csv", n);
        else
            fprintf(out, "%s%s", listed > 1 ? ", " : "", p->point->label);
    }
    fputs(listed > 0 ? "." : "", out);
}

/* ---- Below the axis of a figure over ranks ---- */

/* State while writing the list of points without a value. Each entry of the list has one status and
 * one series, or `all` in place of a series. `listed`: number of entries written; `left`: number of
 * entries that did not fit. */
struct missing {
    FILE *out;
    const struct figure_data *d;
    size_t lead; /* length of the longest prefix that ends with ", " and that the names of all
                    series share; 0: none, or there is only one series */
    size_t listed, left;
};

static long ranks_of(const struct figure_data *d, size_t point)
{
    return config_int(&d->s->points[point].point->config, OPT_RANKS);
}

/* Returns the smallest number of ranks above `after` in the figure; 0 if no shown point has more
 * ranks. */
static long next_ranks(const struct figure_data *d, long after)
{
    long next = 0;
    for (size_t i = 0; i < d->s->n; i++)
        if (d->shown[i] && ranks_of(d, i) > after && (next == 0 || ranks_of(d, i) < next))
            next = ranks_of(d, i);
    return next;
}

static bool misses_so(const struct figure_data *d, size_t point, const char *status)
{
    return figure_data_misses(d, point) && strcmp(d->s->points[point].status, status) == 0;
}

/* Returns whether all shown points with this number of ranks have this status and no value. The
 * list of points without a value then names "all" instead of each series. */
static bool miss_alike(const struct figure_data *d, long ranks, const char *status)
{
    for (size_t i = 0; i < d->s->n; i++)
        if (d->shown[i] && ranks_of(d, i) == ranks && !misses_so(d, i, status))
            return false;
    return true;
}

/* Returns the length of the common prefix of all series' names, up to a comma: "reduce_bcast, " for
 * "reduce_bcast, nodes 1" and "reduce_bcast, nodes 2". Messages omit the prefix. */
static size_t shared_lead(const struct series_list *list)
{
    const char *first = list->n > 0 ? list->items[0].name : "";
    size_t lead = 0;
    for (const char *comma = list->n > 1 ? strstr(first, ", ") : NULL; comma != NULL;
         comma = strstr(first + lead, ", ")) {
        size_t length = (size_t)(comma - first) + 2;
        for (size_t k = 1; k < list->n; k++)
            if (strncmp(list->items[k].name, first, length) != 0)
                return lead;
        lead = length;
    }
    return lead;
}

/* If `series` is NULL, returns miss_alike: whether all shown points with this number of ranks have
 * this status and no value. Otherwise, returns whether a point of the series with this number of
 * ranks has this status and no value, and miss_alike is false. */
static bool misses_at(const struct missing *m, const struct series *series, long ranks,
                      const char *status)
{
    bool misses = false;
    for (size_t i = 0; series != NULL && i < series->n; i++)
        misses |= ranks_of(m->d, series->points[i]) == ranks &&
                  misses_so(m->d, series->points[i], status);
    return (series == NULL || misses) && miss_alike(m->d, ranks, status) == (series == NULL);
}

/* Writes one entry of the list: the numbers of ranks at which a point of the series has this status
 * and no value, such as "ring failed at 2". Omits numbers at which all shown points have this
 * status and no value. If `series` is NULL, writes only these numbers: "All skipped at 4, 8 ranks".
 * If the list is full and the entry is not empty, only increments m->left. */
static void write_missing_at(struct missing *m, const struct series *series, const char *status)
{
    enum { LISTED_MAX = 6 };
    const char *name = series != NULL ? series->name + m->lead : m->listed > 0 ? "all" : "All";
    size_t n = 0;
    for (long ranks = next_ranks(m->d, 0); ranks > 0; ranks = next_ranks(m->d, ranks)) {
        if (!misses_at(m, series, ranks, status))
            continue;
        if (m->listed == LISTED_MAX && n == 0) {
            m->left++;
            return;
        }
        if (n++ > 0)
            fputs(", ", m->out);
        else
            fprintf(m->out, "%s%s %s at ", m->listed++ > 0 ? "; " : "", name, status);
        fprintf(m->out, "%ld", ranks);
    }
    if (n > 0 && series == NULL)
        fputs(" ranks", m->out);
}

static void write_missing(struct missing *m)
{
    const struct series_list *list = &m->d->series;
    for (size_t k = 0; k <= list->n; k++)
        for (int i = 0; i < POINT_STATUSES; i++)
            write_missing_at(m, k > 0 ? &list->items[k - 1] : NULL, point_status_names()[i]);
    if (m->left > 0)
        fprintf(m->out, "; and %zu more", m->left);
    fputs(m->listed > 0 ? "." : "", m->out);
}

enum status missing_make(char **missing, const struct figure_data *d, struct error *e)
{
    size_t size = 0;
    if (next_ranks(d, 0) == 0)
        return error_set(e, ERR_ARGUMENT, "figures.where = %s matches no point of the run",
                         figure_text(d->figure, FIGURE_WHERE));
    struct missing m = {
        .out = open_memstream(missing, &size), .d = d, .lead = shared_lead(&d->series)};
    if (m.out == NULL)
        return error_no_memory(e, "a figure");
    write_missing(&m);
    return fclose(m.out) == 0 ? OK : error_no_memory(e, "a figure");
}
