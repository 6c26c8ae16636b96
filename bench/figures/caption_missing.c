#include "bench/figures/caption.h"

#include <stdlib.h>
#include <string.h>

#include "bench/collect/summary.h"

/* ---- Points without a good value ---- */

static bool share_fate(const struct point_summary *a, const struct point_summary *b)
{
    return strcmp(a->status, b->status) == 0 && strcmp(a->reason, b->reason) == 0;
}

/* Not ok, and no point before it shares its status and reason. */
static bool is_first_of_fate(const struct summary *s, size_t point)
{
    for (size_t i = 0; i < point; i++)
        if (share_fate(&s->points[i], &s->points[point]))
            return false;
    return s->points[point].outcome != POINT_ok;
}

/* " Skipped: ranks=4, ranks=8 (8 ranks, 2 cores)." of the points that share the fate of one. */
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

/* By name and with the reason. */
static void write_fates(FILE *out, const struct summary *s)
{
    const size_t told_max = 8;
    size_t told = 0;
    for (size_t i = 0; i < s->n; i++)
        if (is_first_of_fate(s, i) && told++ < told_max)
            write_fate(out, s, i);
    if (told > told_max)
        fprintf(out, " Further reasons: %zu, in the table.", told - told_max);
}

/* " Not ok: 3 failed, 2 skipped." */
static void write_counts(FILE *out, const struct summary *s)
{
    size_t n[POINT_STATUSES] = {0}, told = 0;
    for (size_t i = 0; i < s->n; i++)
        n[s->points[i].outcome]++;
    for (int status = 0; status < POINT_STATUSES; status++)
        if (status != POINT_ok && n[status] > 0)
            fprintf(out, "%s%zu %s", told++ > 0 ? ", " : " Not ok: ", n[status],
                    point_status_names()[status]);
    fputs(told > 0 ? "." : "", out);
}

void missing_write(FILE *out, const struct summary *s, bool full)
{
    (full ? write_fates : write_counts)(out, s);
}

/* " Seeds missing: ranks=2 (2 of 3)." */
void missing_write_seeds(FILE *out, const struct summary *s)
{
    size_t told = 0;
    for (size_t i = 0; i < s->n; i++) {
        const struct point_summary *p = &s->points[i];
        if (!point_lacks_seeds(p))
            continue;
        fprintf(out, "%s %s (%zu of %zu)", told++ > 0 ? "," : " Seeds missing:", p->point->label,
                p->seeds_missing, p->seeds);
    }
    fputs(told > 0 ? "." : "", out);
}

/* ---- Disturbed launches, weights that differ ---- */

/* A point with the same launches is shown before it. */
static bool is_twin(const struct figure_data *d, size_t point)
{
    for (size_t i = 0; i < point; i++)
        if (d->shown[i] && d->s->points[i].point->twin == d->s->points[point].point->twin)
            return true;
    return false;
}

/* " 3 of 54 launches disturbed." */
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

/* "train.broadcast_init: false" */
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

/* " By design weights differ between ranks (broadcast_init=false): naive ranks=2.", of many how many. */
void flaws_write(FILE *out, const struct summary *s)
{
    enum { NAMED = 3 };
    char flaws[160];
    size_t n = 0, told = 0;
    for (size_t i = 0; i < s->n; i++)
        n += differs_by_design(&s->points[i]);
    for (size_t i = 0; i < s->n && (n <= NAMED || told == 0); i++) {
        const struct point_summary *p = &s->points[i];
        if (!differs_by_design(p))
            continue;
        if (told++ == 0)
            fprintf(out, " By design weights differ between ranks (%s): ",
                    name_flaws(flaws, sizeof flaws, p));
        if (n > NAMED)
            fprintf(out, "%zu points, flagged in summary.csv", n);
        else
            fprintf(out, "%s%s", told > 1 ? ", " : "", p->point->label);
    }
    fputs(told > 0 ? "." : "", out);
}

/* ---- Of a figure over ranks, below its axis ---- */

/* What is told: where each status stands, series by series; beyond TOLD_MAX how many more. */
struct missing {
    FILE *out;
    const struct figure_data *d;
    size_t lead; /* length of what all series' names begin with */
    size_t told, left;
};

static long ranks_of(const struct figure_data *d, size_t point)
{
    return config_int(&d->s->points[point].point->config, OPT_RANKS);
}

/* The next rank count of the figure; 0: there is none. */
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

/* All points at these ranks have this status: no series is told then. */
static bool miss_alike(const struct figure_data *d, long ranks, const char *status)
{
    for (size_t i = 0; i < d->s->n; i++)
        if (d->shown[i] && ranks_of(d, i) == ranks && !misses_so(d, i, status))
            return false;
    return true;
}

/* Length of what all series' names begin with, in whole parts: "reduce_bcast, " of "reduce_bcast,
 * nodes 1" and "reduce_bcast, nodes 2". The legend says it, what is told of them need not. */
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

/* At these ranks the series has this status, and another one a value or another status; NULL: all points have it. */
static bool misses_at(const struct missing *m, const struct series *series, long ranks,
                      const char *status)
{
    bool misses = false;
    for (size_t i = 0; series != NULL && i < series->n; i++)
        misses |= ranks_of(m->d, series->points[i]) == ranks &&
                  misses_so(m->d, series->points[i], status);
    return (series == NULL || misses) && miss_alike(m->d, ranks, status) == (series == NULL);
}

/* "All skipped at 4, 8 ranks; ring failed at 2" */
static void write_missing_at(struct missing *m, const struct series *series, const char *status)
{
    enum { TOLD_MAX = 6 };
    const char *name = series != NULL ? series->name + m->lead : m->told > 0 ? "all" : "All";
    size_t n = 0;
    for (long ranks = next_ranks(m->d, 0); ranks > 0; ranks = next_ranks(m->d, ranks)) {
        if (!misses_at(m, series, ranks, status))
            continue;
        if (m->told == TOLD_MAX && n == 0) {
            m->left++;
            return;
        }
        if (n++ > 0)
            fputs(", ", m->out);
        else
            fprintf(m->out, "%s%s %s at ", m->told++ > 0 ? "; " : "", name, status);
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
    fputs(m->told > 0 ? "." : "", m->out);
}

enum status missing_make(char **missing, const struct figure_data *d, struct error *e)
{
    size_t size = 0;
    if (next_ranks(d, 0) == 0)
        return error_set(e, ERR_ARGUMENT, "figures.where = %s: nothing of the run is left",
                         figure_text(d->figure, FIGURE_WHERE));
    struct missing m = {
        .out = open_memstream(missing, &size), .d = d, .lead = shared_lead(&d->series)};
    if (m.out == NULL)
        return error_no_memory(e, "a figure");
    write_missing(&m);
    return fclose(m.out) == 0 ? OK : error_no_memory(e, "a figure");
}
