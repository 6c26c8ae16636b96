#include "bench/compare/comparison.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bench/compare/operand.h"
#include "bench/compare/repeats.h"
#include "bench/spec/value.h"
#include "kernels/base/mem.h"
#include "kernels/base/text.h"

const char *compare_label(const struct side_point *p)
{
    return p->label[0] ? p->label : p->id;
}

/* ---- Options ---- */

/* Reads a percentage such as "2%" as a fraction, here 0.02. The percentage must lie in [least,
 * most). */
static enum status read_share(double *share, const char *option, const char *text, double least,
                              double most, struct error *e)
{
    enum option_type type;
    double pct;
    if (!number_parse_unit(text, &type, &pct) || type != TYPE_PERCENT ||
        !(pct >= least && pct < most))
        return error_set(
            e, ERR_ARGUMENT,
            "%s: expected a percentage from %g%% to below %g%%, such as %g%%, found '%s'", option,
            least, most, least > 2 ? 95.0 : 2.0, text);
    *share = pct / 100;
    return OK;
}

/* Refuses flags without effect: --count-disturbed if other programs cannot change the quantity, and
 * --as-measured if the quantity is not converted to another clock rate. */
static enum status check_switches(const struct compared *what,
                                  const struct compare_request *request, struct error *e)
{
    bool disturbed = request->count_disturbed && what->spread_pct == 0;
    if (!disturbed && !(request->as_measured && what->clock == CLOCK_FREE))
        return OK;
    return error_set(e, ERR_ARGUMENT, "compare: --%s has no effect on %s; leave it out",
                     disturbed ? "count-disturbed" : "as-measured", what->name);
}

static enum status read_rules(struct comparison *c, const struct compare_request *request,
                              struct error *e)
{
    TRY(compared_find(&c->rules.what, request->quantity != NULL ? request->quantity : "step_ms",
                      e));
    c->rules.margin = c->rules.what->margin_pct / 100;
    if (request->margin != NULL)
        TRY(read_share(&c->rules.margin, "--margin", request->margin, 0, 100, e));
    TRY(read_share(&c->level, "--level", request->level != NULL ? request->level : "95%", 50, 100,
                   e));
    TRY(check_switches(c->rules.what, request, e));
    c->rules.count_disturbed = request->count_disturbed;
    c->at_clock = c->rules.what->clock != CLOCK_FREE && !request->as_measured;
    floor_begin(&c->floor, c->rules.what->spread_pct);
    c->rules.floor = &c->floor;
    if (request->floor == NULL)
        return OK;
    TRY(read_share(&c->floor.given, "--floor", request->floor, 0, 100, e));
    c->floor.given = log1p(c->floor.given);
    return OK;
}

/* ---- Sides ---- */

static bool is_published(const char *operand)
{
    return strcmp(operand, "published") == 0 ||
           (text_ends(operand, ".csv") && !path_is_folder(operand));
}

static enum status read_run(struct comparison *c, size_t i, const struct compare_request *request,
                            struct error *e)
{
    char path[PATH_BYTES];
    TRY(operand_find(path, request->operands[i], request->out, request->home, e));
    return side_read(&c->sides[i], request->operands[i], path, c->rules.what, e);
}

/* Fills side i with published numbers, matched to the points of the first operand that is a run. */
static enum status read_published(struct comparison *c, size_t i,
                                  const struct compare_request *request, struct error *e)
{
    const char *operand = request->operands[i];
    size_t run = 0;
    while (run < c->n_sides && is_published(request->operands[run]))
        run++;
    if (run == c->n_sides)
        return error_set(
            e, ERR_ARGUMENT,
            "%s: expected a run to compare with these published numbers. Add the folder or name of "
            "a run",
            operand);
    TRY(operand_check_no_table(operand, e));
    return side_publish(&c->sides[i], operand, strcmp(operand, "published") == 0 ? NULL : operand,
                        &c->sides[run], c->rules.what, e);
}

static enum status read_sides(struct comparison *c, const struct compare_request *request,
                              struct error *e)
{
    TRY(MEM_NEW(c->sides, request->n_operands, "the runs to compare", e));
    c->n_sides = request->n_operands;
    for (size_t i = 0; i < c->n_sides; i++)
        if (!is_published(request->operands[i]))
            TRY(read_run(c, i, request, e));
    for (size_t i = 0; i < c->n_sides; i++)
        if (is_published(request->operands[i]))
            TRY(read_published(c, i, request, e));
    return OK;
}

/* ---- Points ---- */

/* Ways to match points of two runs, in the order in which they are tried. BY_ROW: equal identity
 * and case name. BY_ID: equal identity. BY_LABEL: equal label. */
enum match { BY_ROW, BY_ID, BY_LABEL, MATCHES };

static bool matches(const struct side_point *a, const struct side_point *b, int by)
{
    if (by == BY_LABEL)
        return a->label[0] && strcmp(a->label, b->label) == 0;
    return strcmp(a->id, b->id) == 0 && (by == BY_ID || strcmp(a->case_name, b->case_name) == 0);
}

static bool is_taken(const struct comparison *c, size_t side, const struct side_point *p)
{
    for (size_t i = 0; i < c->sides[0].n; i++)
        if (compare_cell(c, i, side)->point == p)
            return true;
    return false;
}

static void match_point(struct comparison *c, size_t side, size_t i, int by)
{
    struct compare_cell *cell = &c->cells[i * (c->n_sides - 1) + side - 1];
    const struct side *other = &c->sides[side];
    for (size_t k = 0; k < other->n && cell->point == NULL; k++)
        if (matches(&c->sides[0].points[i], &other->points[k], by) &&
            !is_taken(c, side, &other->points[k])) {
            cell->point = &other->points[k];
            cell->by_label = by == BY_LABEL;
            c->by_label += cell->by_label;
        }
}

bool compare_is_unmatched(const struct comparison *c, size_t i, size_t side)
{
    return !is_taken(c, side, &c->sides[side].points[i]);
}

static bool is_comparable(const struct comparison *c, size_t point, size_t side)
{
    const struct compare_cell *cell = compare_cell(c, point, side);
    return cell->point != NULL && cell->point->n > 0 && c->sides[0].points[point].n > 0;
}

static bool is_beside_published(const struct comparison *c)
{
    size_t runs = 0;
    for (size_t side = 1; side < c->n_sides; side++)
        runs += c->sides[side].path[0] != '\0';
    return c->sides[0].path[0] == '\0' || runs == 0;
}

bool compare_is_lost(const struct comparison *c, size_t point, size_t side)
{
    const struct side_point *p = compare_cell(c, point, side)->point;
    return p != NULL && p->n == 0 && c->sides[0].points[point].n > 0;
}

bool compare_is_failed(const struct comparison *c, size_t point, size_t side)
{
    return compare_is_lost(c, point, side) &&
           side_point_failed(compare_cell(c, point, side)->point);
}

static enum status refuse_nothing(const struct comparison *c, struct error *e)
{
    bool any = false;
    for (size_t i = 0; i < c->sides[0].n * (c->n_sides - 1); i++)
        any = any || c->cells[i].point != NULL;
    if (any || c->sides[0].n == 0 || c->sides[1].n == 0)
        return error_set(e, ERR_UNAVAILABLE,
                         "nothing to compare: no point has a value of %s both in '%s' and in "
                         "another run; choose another --quantity",
                         c->rules.what->name, c->sides[0].name);
    return error_set(e, ERR_UNAVAILABLE,
                     "nothing to compare: no point of '%s' (such as '%.150s') matches a point "
                     "of another run (such as '%.150s' in '%s'). Compare runs of the same points, "
                     "or give the points the same labels in `cases`",
                     c->sides[0].name, compare_label(&c->sides[0].points[0]),
                     compare_label(&c->sides[1].points[0]), c->sides[1].name);
}

enum status compare_match(struct comparison *c, struct error *e)
{
    size_t n = c->sides[0].n, runs = c->n_sides - 1;
    TRY(MEM_NEW(c->cells, n * runs, "the points to compare", e));
    for (size_t side = 1; side < c->n_sides; side++)
        for (int by = 0; by < MATCHES; by++)
            for (size_t i = 0; i < n; i++)
                match_point(c, side, i, by);
    return OK;
}

static enum status match_points(struct comparison *c, struct error *e)
{
    size_t n = c->sides[0].n;
    TRY(compare_match(c, e));
    for (size_t i = 0; i < n; i++)
        for (size_t side = 1; side < c->n_sides; side++) {
            c->n_ratios += is_comparable(c, i, side);
            c->lost += compare_is_lost(c, i, side);
            c->failed += compare_is_failed(c, i, side);
        }
    if (c->n_ratios == 0)
        return refuse_nothing(c, e);
    c->joint = c->n_ratios > 1 && !is_beside_published(c);
    c->rules.level = c->joint ? 1 - (1 - c->level) / (double)c->n_ratios : c->level;
    return OK;
}

/* ---- Clock rate ---- */

/* Clears c->at_clock, with the reason in c->as_measured, if the side's times cannot be converted to
 * the reference's clock rate. The time of a fixed computation shows the rate (compared.def). On
 * different hardware, step times and this computation would not change by the same factor. */
static void check_clock(struct comparison *c, const struct side *side)
{
    char *why = c->as_measured;
    size_t size = sizeof c->as_measured;
    if (!c->at_clock)
        return;
    if (side->path[0] == '\0')
        snprintf(why, size, "published numbers have no clock rate");
    else if (!(side->work_us > 0))
        snprintf(why, size, "not every launch of %s has a time of the fixed computation",
                 side->name);
    else if (side->machine[0] == '\0')
        snprintf(why, size, "%s has no manifest with its class of hardware", side->name);
    else if (strcmp(side->machine, c->sides[0].machine) != 0)
        snprintf(why, size, "%s and %s ran on different hardware", c->sides[0].name, side->name);
    c->at_clock = why[0] == '\0';
}

static void set_own_clocks(struct side *side)
{
    for (size_t i = 0; i < side->n; i++) {
        struct side_point *p = &side->points[i];
        p->clock_us = p->n > 0 ? stats_median(p->work_us, p->n) : NAN;
    }
}

static void set_repeats_clocks(const struct side *side)
{
    for (size_t r = 0; r < side->n_repeats; r++)
        for (size_t i = 0; i < side->repeats[r].n; i++) {
            struct side_point *p = &side->repeats[r].points[i];
            const struct side_point *repeated = repeats_find_point(side, p);
            p->clock_us = repeated != NULL ? repeated->clock_us : p->clock_us;
        }
}

/* Copies clock_us, the time of a fixed computation, from the reference's points to the matching
 * points of run `side`. clock_us differs between points, because the computation takes longer in
 * launches with more ranks. */
static void set_reference_clocks(struct comparison *c, size_t side)
{
    for (size_t i = 0; i < c->sides[0].n; i++) {
        struct compare_cell *cell = &c->cells[i * (c->n_sides - 1) + side - 1];
        if (is_comparable(c, i, side))
            cell->point->clock_us = c->sides[0].points[i].clock_us;
    }
}

/* If c->at_clock is set, converts the values of all sides and of their repetitions to the processor
 * clock rate of the reference. If check_clock finds a run whose values cannot be converted, it
 * clears c->at_clock, and nothing is converted. */
static void use_clocks(struct comparison *c)
{
    for (size_t side = 0; side < c->n_sides; side++)
        for (size_t r = 0; r <= c->sides[side].n_repeats; r++)
            check_clock(c, side_run(&c->sides[side], r));
    for (size_t side = 0; c->at_clock && side < c->n_sides; side++) {
        for (size_t r = 0; r <= c->sides[side].n_repeats; r++)
            set_own_clocks(side_run(&c->sides[side], r));
        if (side > 0)
            set_reference_clocks(c, side);
        set_repeats_clocks(&c->sides[side]);
    }
    for (size_t side = 0; c->at_clock && side < c->n_sides; side++)
        for (size_t r = 0; r <= c->sides[side].n_repeats; r++)
            side_use_clocks(side_run(&c->sides[side], r), c->rules.what->clock);
}

/* ---- Verdicts ---- */

static bool is_itself(const struct comparison *c, size_t side, const struct compare_cell *cell,
                      const struct side_point *reference)
{
    return c->sides[side].path[0] && strcmp(c->sides[side].path, c->sides[0].path) == 0 &&
           cell->point->n == reference->n && strcmp(cell->point->id, reference->id) == 0;
}

/* Collects the launches of a point in a side's run and in the run's repetitions. `launches`: room
 * for n_repeats + 1 elements, one per run. */
static struct judge_sample sample_of(const struct side *side, const struct side_point *p,
                                     struct judge_launches *launches)
{
    struct judge_sample sample = {launches, 1, p->exact, p->simulated};
    launches[0] = (struct judge_launches){p->values, p->n, p->disturbed};
    for (size_t r = 0; r < side->n_repeats && p->n > 0; r++) {
        const struct side_point *own = repeats_find_point(&side->repeats[r], p);
        if (own != NULL)
            launches[sample.n++] = (struct judge_launches){own->values, own->n, own->disturbed};
    }
    return sample;
}

static enum status judge_point(struct comparison *c, size_t i, size_t side,
                               struct judge_launches *launches, struct error *e)
{
    struct compare_cell *cell = &c->cells[i * (c->n_sides - 1) + side - 1];
    const struct side_point *reference = &c->sides[0].points[i];
    if (cell->point == NULL)
        return OK;
    const struct judge_sample left = sample_of(&c->sides[0], reference, launches);
    const struct judge_sample right = sample_of(&c->sides[side], cell->point, launches + left.n);
    if (is_itself(c, side, cell, reference))
        judge_itself(&cell->judged, &left);
    else
        TRY(judge(&cell->judged, &c->rules, &left, &right, e));
    c->verdicts[cell->judged.verdict]++;
    return OK;
}

static enum status judge_points(struct comparison *c, struct error *e)
{
    struct judge_launches *launches;
    size_t most = 2;
    for (size_t side = 0; side < c->n_sides; side++)
        most += c->sides[side].n_repeats;
    TRY(MEM_NEW(launches, most, "the campaigns of a point", e));
    enum status status = OK;
    for (size_t i = 0; i < c->sides[0].n; i++)
        for (size_t side = 1; side < c->n_sides; side++)
            THEN(status, judge_point(c, i, side, launches, e));
    free(launches);
    return status;
}

enum status compare_run(struct comparison *c, const struct compare_request *request,
                        struct error *e)
{
    *c = (struct comparison){.n_sides = 0};
    TRY(read_rules(c, request, e));
    TRY(read_sides(c, request, e));
    TRY(match_points(c, e));
    TRY(repeats_find(c->sides, c->n_sides, c->rules.what, e));
    use_clocks(c);
    for (size_t i = 0; i < c->n_sides; i++)
        TRY(repeats_add(&c->floor, &c->sides[i], e));
    return judge_points(c, e);
}

/* ---- Bisection ---- */

enum { BISECT_GOOD = 0, BISECT_BAD = 1, BISECT_SKIP = 125, BISECT_STOP = 128 };

/* Returns whether a point with values in the reference is missing in a run. */
static bool lacks_point(const struct comparison *c)
{
    for (size_t i = 0; i < c->sides[0].n; i++)
        for (size_t side = 1; side < c->n_sides; side++)
            if (compare_cell(c, i, side)->point == NULL && c->sides[0].points[i].n > 0)
                return true;
    return false;
}

int compare_bisect(const struct comparison *c)
{
    bool decided = c->verdicts[VERDICT_GOOD] + c->verdicts[VERDICT_SAME] > 0 &&
                   c->verdicts[VERDICT_UNDECIDED] == 0 && c->lost == 0 && !lacks_point(c);
    return c->verdicts[VERDICT_BAD] > 0 ? BISECT_BAD : decided ? BISECT_GOOD : BISECT_SKIP;
}

int compare_bisect_error(enum status status)
{
    return status == ERR_UNAVAILABLE ? BISECT_SKIP : BISECT_STOP;
}

void compare_free(struct comparison *c)
{
    for (size_t i = 0; i < c->n_sides; i++)
        side_free(&c->sides[i]);
    free(c->sides);
    free(c->cells);
    *c = (struct comparison){.n_sides = 0};
}
