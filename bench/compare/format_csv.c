/* Writes a comparison as CSV: one row per point and run, also for points without a match. */
#include <math.h>

#include "bench/compare/format.h"
#include "bench/record/csv.h"

#define COLUMN(id, type, unit, meaning)             CSV_CELL_##type id;
#define COLUMN_NAMED(id, name, type, unit, meaning) COLUMN(id, type, unit, meaning)
struct compare_row {
#include "bench/compare/csv_compare.def"
};
#undef COLUMN
#undef COLUMN_NAMED

#define COLUMN_NAMED(id, name, type, unit, meaning)                                                \
    {"compare.csv", name, CSV_##type, unit, meaning, offsetof(struct compare_row, id)},
#define COLUMN(id, type, unit, meaning) COLUMN_NAMED(id, #id, type, unit, meaning)
static const struct column columns[] = {
#include "bench/compare/csv_compare.def"
};
#undef COLUMN
#undef COLUMN_NAMED

const struct csv_file compare_file = {
    "compare.csv", "One row per point and run, printed by `scalebench compare --format csv`",
    columns, sizeof columns / sizeof *columns};

static void begin_row(struct compare_row *row, const struct comparison *c, size_t side,
                      const struct side_point *p)
{
    csv_clear_row(&compare_file, row);
    row->reference = c->sides[0].name;
    row->run = c->sides[side].name;
    row->quantity = c->rules.what->name;
    row->case_name = p->case_name;
    row->label = p->label;
    row->level_wanted = c->rules.level;
    row->margin = c->rules.margin;
    row->floor_repetitions = (double)c->floor.repetitions;
    if (isnan(c->floor.given)) {
        row->between_sd = expm1(sqrt(c->floor.variance));
        row->between_degrees = c->floor.degrees;
    }
}

/* Returns n, a number of launches or campaigns; NAN for published numbers, which have none. */
static double count_of(const struct side_point *p, size_t n)
{
    return p->exact ? NAN : (double)n;
}

static void take_judged(struct compare_row *row, const struct judged *j,
                        const struct compared *what)
{
    row->reference_median = j->reference;
    row->median = j->median;
    CSV_SET_INTERVAL(row, ratio, j->ratio, 1);
    row->launches_lo = j->launches.lo;
    row->launches_hi = j->launches.hi;
    row->floor = isnan(j->ratio.mid) ? NAN : expm1(j->floor);
    row->level = isnan(j->ratio.mid) ? NAN : j->launches.level;
    row->verdict = j->verdict == VERDICT_NONE ? NULL : verdict_name(j->verdict, what);
    row->reason = j->reason;
}

static void write_pair(FILE *out, const struct comparison *c, size_t i, size_t side)
{
    struct compare_row row;
    const struct side_point *reference = &c->sides[0].points[i];
    const struct compare_cell *cell = compare_cell(c, i, side);
    begin_row(&row, c, side, reference);
    row.reference_point = reference->id;
    row.reference_launches = count_of(reference, reference->n);
    row.reference_disturbed = count_of(reference, reference->disturbed);
    row.reason = "the run does not have this point";
    if (cell->point != NULL) {
        row.point = cell->point->id;
        row.matched_by = cell->by_label ? "label" : "id";
        row.reference_launches = count_of(reference, cell->judged.reference_n);
        row.launches = count_of(cell->point, cell->judged.n);
        row.reference_disturbed = count_of(reference, cell->judged.reference_disturbed);
        row.disturbed = count_of(cell->point, cell->judged.disturbed);
        row.reference_campaigns = count_of(reference, cell->judged.reference_campaigns);
        row.campaigns = count_of(cell->point, cell->judged.campaigns);
        take_judged(&row, &cell->judged, c->rules.what);
        if (c->at_clock && cell->point->n > 0 && reference->n > 0)
            row.clock_ratio =
                stats_median(cell->point->work_us, cell->point->n) / reference->clock_us;
    }
    csv_write_row(out, &compare_file, &row);
}

static void write_single(FILE *out, const struct comparison *c, size_t i, size_t side)
{
    struct compare_row row;
    const struct side_point *p = &c->sides[side].points[i];
    begin_row(&row, c, side, p);
    row.point = p->id;
    row.launches = count_of(p, p->n);
    row.disturbed = count_of(p, p->disturbed);
    row.reason = "the reference does not have this point";
    csv_write_row(out, &compare_file, &row);
}

enum status format_csv(FILE *out, const struct comparison *c, const struct format_options *options,
                       struct error *e)
{
    format_warn(c);
    csv_write_header(out, &compare_file);
    for (size_t side = 1; side < c->n_sides; side++) {
        for (size_t i = 0; i < c->sides[0].n; i++)
            write_pair(out, c, i, side);
        for (size_t i = 0; i < c->sides[side].n; i++)
            if (compare_is_unmatched(c, i, side))
                write_single(out, c, i, side);
    }
    return OK;
}
