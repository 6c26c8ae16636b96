/* Writes the notes below a table of verdicts: runs compared, confidence level, noise floor,
 * omissions. */
#include <math.h>
#include <string.h>

#include "bench/base/log.h"
#include "bench/compare/format.h"
#include "bench/runner/run_spec.h"
#include "bench/spec/value.h"
#include "kernels/base/text.h"

enum { LISTED = 6 };

char *format_ratio(char text[TEXT_INTERVAL], const struct judged *judged)
{
    const struct interval *ratio = &judged->ratio;
    char lo[TEXT_NUMBER], mid[TEXT_NUMBER], hi[TEXT_NUMBER];
    if (!isfinite(ratio->mid))
        return strcpy(text, "-");
    /* A ratio below 0.1 is written with three significant digits: ratios to runs on other machines
     * can be 0.001, for which three decimals are too few. */
    char *(*write)(char text[TEXT_NUMBER], double x, int digits) =
        ratio->mid < 0.1 ? text_significant : text_fixed;
    snprintf(text, TEXT_INTERVAL, "%s [%s, %s]", write(mid, ratio->mid, 3), write(lo, ratio->lo, 3),
             write(hi, ratio->hi, 3));
    return text;
}

/* A list of labels, of which only the first LISTED are written. */
struct list {
    FILE *out;
    size_t n;
};

/* Adds a point's label to a list; if the list is full, only counts the label. `run`: number of the
 * run, from 1, written after the label; 0: no number is written. */
static void list_label(struct list *list, const struct side_point *p, size_t run)
{
    if (list->n < LISTED) {
        fprintf(list->out, "%s%s", list->n > 0 ? ", " : "", compare_label(p));
        if (run > 0)
            fprintf(list->out, " (run %zu)", run);
    }
    list->n++;
}

static void list_end(const struct list *list)
{
    if (list->n > LISTED)
        fprintf(list->out, " and %zu more", list->n - LISTED);
    fputs(".\n", list->out);
}

/* ---- Verdicts ---- */

static void write_counts(FILE *out, const struct comparison *c, size_t side)
{
    char points[TEXT_NUMBER];
    size_t counts[VERDICT_UNDECIDED + 1] = {0}, n = 0;
    for (size_t i = 0; i < c->sides[0].n; i++)
        if (compare_cell(c, i, side)->point != NULL)
            counts[compare_cell(c, i, side)->judged.verdict]++;
    for (int v = VERDICT_SAME; v <= VERDICT_UNDECIDED; v++)
        n += counts[v];
    fprintf(out, "%s: %zu %s, %zu %s, %zu same, %zu undecided of %s.\n", c->sides[side].name,
            counts[VERDICT_GOOD], c->rules.what->good, counts[VERDICT_BAD], c->rules.what->bad,
            counts[VERDICT_SAME], counts[VERDICT_UNDECIDED], text_plural(points, (long)n, "point"));
}

/* Returns whether the cell's verdict is undecided for a reason that no earlier cell has. */
static bool is_first_of(const struct comparison *c, size_t cell)
{
    const struct judged *judged = &c->cells[cell].judged;
    if (judged->verdict != VERDICT_UNDECIDED)
        return false;
    for (size_t i = 0; i < cell; i++)
        if (c->cells[i].judged.verdict == VERDICT_UNDECIDED &&
            strcmp(c->cells[i].judged.reason, judged->reason) == 0)
            return false;
    return true;
}

static void write_reasons(FILE *out, const struct comparison *c)
{
    size_t n = c->sides[0].n * (c->n_sides - 1);
    for (size_t first = 0; first < n; first++) {
        if (!is_first_of(c, first))
            continue;
        struct list list = {out, 0};
        const char *reason = c->cells[first].judged.reason;
        fprintf(out, "Undecided (%s): ", reason);
        for (size_t i = first; i < n; i++)
            if (c->cells[i].judged.verdict == VERDICT_UNDECIDED &&
                strcmp(c->cells[i].judged.reason, reason) == 0)
                list_label(&list, &c->sides[0].points[i / (c->n_sides - 1)],
                           c->n_sides > 2 ? 1 + i % (c->n_sides - 1) : 0);
        list_end(&list);
    }
}

/* ---- Confidence ---- */

static void write_level(FILE *out, const struct comparison *c)
{
    char all[TEXT_NUMBER], each[TEXT_NUMBER], margin[TEXT_NUMBER];
    text_real(margin, 100 * c->rules.margin);
    fprintf(
        out,
        "Ratios are medians over pairs of launches, relative to %s; %s is better. A point is the "
        "same "
        "if its interval lies within "
        "%s %%. It is %s or %s if its interval lies on one side of 1 and its ratio beyond %s %%.",
        c->sides[0].name, c->rules.what->better == BETTER_LOWER ? "lower" : "higher", margin,
        c->rules.what->good, c->rules.what->bad, margin);
    text_real(all, 100 * c->level);
    if (c->joint)
        fprintf(out, " All %zu intervals hold together at %s %%, each at %s %%.\n", c->n_ratios,
                all, text_significant(each, 100 * c->rules.level, 4));
    else if (c->n_ratios > 1)
        fprintf(out, " Each of %zu intervals holds at %s %%, not all together.\n", c->n_ratios,
                all);
    else
        fprintf(out, " The interval holds at %s %%.\n", all);
}

static bool is_one_run(const struct comparison *c)
{
    for (size_t i = 1; i < c->n_sides; i++)
        if (strcmp(c->sides[i].path, c->sides[0].path) != 0)
            return false;
    return true;
}

static void write_repeats(FILE *out, const struct comparison *c)
{
    char runs[TEXT_NUMBER];
    for (size_t side = 0; side < c->n_sides; side++)
        if (c->sides[side].n_repeats > 0)
            fprintf(out, "%s is averaged with its %s.\n", c->sides[side].name,
                    text_plural(runs, (long)c->sides[side].n_repeats, "repetition"));
}

static void write_source(FILE *out, const struct noise_floor *floor)
{
    char degrees[TEXT_NUMBER];
    if (floor->repetitions == 0)
        fputs("the default (repetitions, `scalebench run SPEC --fresh`, give an estimate)", out);
    else
        fprintf(out, "estimated from %zu campaigns%s (%s degrees of freedom)", floor->repetitions,
                floor->usual > 0 ? " and the default" : "",
                text_significant(degrees, floor->degrees, 2));
}

static const char is_itself[] =
    "is compared with itself: nothing but noise can differ. Give another run.";

void format_warn(const struct comparison *c)
{
    if (is_one_run(c))
        log_print(LOG_WARNING, "%s %s", c->sides[0].name, is_itself);
}

/* Returns the result of comparing point i of the reference with run `side`. If `side` is 0 (the
 * reference itself), returns the result for the first run that has the point. */
static const struct judged *judged_of(const struct comparison *c, size_t side, size_t i)
{
    size_t run = side > 0 ? side : 1;
    while (side == 0 && run + 1 < c->n_sides && compare_cell(c, i, run)->judged.reference_n == 0)
        run++;
    return &compare_cell(c, i, run)->judged;
}

/* Returns whether the noise floor widens at least one interval of the comparison. */
static bool has_floor(const struct comparison *c)
{
    bool widens = false;
    for (size_t side = 1; side < c->n_sides; side++)
        for (size_t i = 0; i < c->sides[0].n; i++)
            widens = widens || judged_of(c, side, i)->floor > 0;
    return widens;
}

static void write_floor(FILE *out, const struct comparison *c)
{
    char number[TEXT_NUMBER], width[TEXT_NUMBER];
    const struct noise_floor *floor = &c->floor;
    double pair = floor_width(floor, c->rules.level, 1, 1);
    text_significant(width, 100 * expm1(pair), 2);
    if (is_one_run(c))
        fprintf(out, "%s %s\n", c->sides[0].name, is_itself);
    else if (pair == 0 || !has_floor(c))
        fputs("Noise floor: none. The intervals leave out variation between campaigns.\n", out);
    else if (!isnan(floor->given))
        fprintf(out,
                "Noise floor: two campaigns of the same points may differ by %s %% (--floor).\n",
                width);
    else {
        fprintf(out, "Noise floor: campaigns of the same points deviate by %s %%, ",
                text_significant(number, 100 * expm1(sqrt(floor->variance)), 2));
        write_source(out, floor);
        fprintf(out, "; two may differ by %s %%, means of several by less.\n", width);
    }
}

/* ---- Disturbances ---- */

/* Lists the numbers of disturbed launches by point: "4 of 6 at ranks=2". */
static void write_disturbed(FILE *out, const struct comparison *c, size_t side)
{
    size_t listed = 0;
    for (size_t i = 0; i < c->sides[0].n; i++) {
        const struct judged *j = judged_of(c, side, i);
        size_t disturbed = side > 0 ? j->disturbed : j->reference_disturbed;
        if (disturbed == 0)
            continue;
        if (listed == 0)
            fprintf(out, "Disturbed launches of %s (causes: raw.csv): ", c->sides[side].name);
        if (listed++ < LISTED)
            fprintf(out, "%s%zu of %zu at %s", listed > 1 ? ", " : "", disturbed,
                    side > 0 ? j->n : j->reference_n, compare_label(&c->sides[0].points[i]));
    }
    if (listed > 0)
        list_end(&(struct list){out, listed});
}

/* ---- Omissions ---- */

/* Values of an option at the first pair of points that are matched by label and differ in this
 * option: `was` in the reference, `is` in the other run. "": there is no such pair. */
struct change {
    char was[40], is[40];
};

static void note_change(struct change *change, enum option_id id, const struct config *was,
                        const struct config *is)
{
    const struct value *a = &was->values[id], *b = &is->values[id];
    if (change->was[0] != '\0' || scope_is_campaign(option_get(id)->scope) || value_equal(a, b))
        return;
    snprintf(change->was, sizeof change->was, "%s", a->text);
    snprintf(change->is, sizeof change->is, "%s", b->text);
}

/* Stores in `changes` each option that differs between the reference and run `side`, at points
 * matched by label. Leaves out options of the whole campaign. Stores nothing if either spec cannot
 * be read. */
static void note_changes(struct change changes[OPT_OWN], const struct comparison *c, size_t side)
{
    struct spec was = {0}, is = {0};
    struct error none;
    bool read = run_spec_load(&was, c->sides[0].path, NULL, &none) == OK &&
                run_spec_load(&is, c->sides[side].path, NULL, &none) == OK;
    for (size_t i = 0; i < c->sides[0].n && read; i++) {
        const struct compare_cell *cell = compare_cell(c, i, side);
        size_t a = spec_find_point(&was, c->sides[0].points[i].id);
        size_t b = cell->by_label ? spec_find_point(&is, cell->point->id) : is.n_points;
        for (enum option_id id = 0; id < OPT_OWN && a < was.n_points && b < is.n_points; id++)
            note_change(&changes[id], id, &was.points[a].config, &is.points[b].config);
    }
    spec_free(&was);
    spec_free(&is);
}

/* Writes why points were matched by label: "Matched by label, since train.lr (0.01, 0.5) differs:
 * ". */
static void write_why_by_label(FILE *out, const struct comparison *c)
{
    struct change changes[OPT_OWN] = {{"", ""}};
    size_t n = 0;
    for (size_t side = 1; side < c->n_sides; side++)
        note_changes(changes, c, side);
    for (enum option_id id = 0; id < OPT_OWN; id++)
        if (changes[id].was[0] != '\0' && !option_is_derived(id)) {
            fprintf(out, "%s%s (%s, %s)", n == 0 ? "Matched by label, since " : ", ",
                    option_get(id)->key, changes[id].was, changes[id].is);
            n++;
        }
    fprintf(out, "%s: ",
            n == 0  ? "Matched by label, since another version wrote their options"
            : n > 1 ? " differ"
                    : " differs");
}

void format_write_matches(FILE *out, const struct comparison *c)
{
    struct list list = {out, 0};
    if (c->by_label == 0)
        return;
    write_why_by_label(out, c);
    for (size_t i = 0; i < c->sides[0].n; i++)
        for (size_t side = 1; side < c->n_sides; side++)
            if (compare_cell(c, i, side)->by_label)
                list_label(&list, &c->sides[0].points[i], c->n_sides > 2 ? side : 0);
    list_end(&list);
}

static bool is_missing(const struct comparison *c, size_t i, size_t side)
{
    return compare_cell(c, i, side)->point == NULL;
}

/* Lists the points of c->sides[from] (0: the reference) for which is(c, point, side) is true. */
static void list_points(FILE *out, const struct comparison *c, size_t side, size_t from,
                        bool (*is)(const struct comparison *c, size_t i, size_t side),
                        const char *begin, const char *has)
{
    struct list list = {out, 0};
    for (size_t i = 0; i < c->sides[from].n; i++) {
        if (!is(c, i, side))
            continue;
        if (list.n == 0)
            fprintf(out, "%s %s%s%s%s: ", begin, c->sides[side].name, has[0] ? ", although " : "",
                    has[0] ? c->sides[0].name : "", has);
        list_label(&list, &c->sides[from].points[i], 0);
    }
    if (list.n > 0)
        list_end(&list);
}

/* Writes the status of points that have values although the status is not ok. Leaves out points
 * whose only value is a published number. */
static void write_statuses(FILE *out, const struct comparison *c, const struct side *side)
{
    for (size_t i = 0; i < side->n; i++) {
        const struct side_point *p = &side->points[i];
        if (p->n > 0 && !p->exact && strcmp(p->status, "ok") != 0)
            fprintf(out, "%s in %s has status %s.\n", compare_label(p), side->name, p->status);
    }
}

static void write_published(FILE *out, const struct comparison *c)
{
    for (size_t i = 0; i < c->n_sides; i++)
        if (c->sides[i].path[0] == '\0') {
            fputs("Published numbers count as exact. Numbers from other machines are only "
                  "comparable as ratios.\n",
                  out);
            return;
        }
}

/* Writes by how many per cent the time of the fixed computation (side.h) differs between a run and
 * the reference. Omits differences below 2 %. */
static void write_speed(FILE *out, const struct comparison *c, size_t side)
{
    double longer_pct = 100 * (c->sides[side].work_us / c->sides[0].work_us - 1);
    if (fabs(longer_pct) >= 2)
        fprintf(out,
                "The fixed computation beside each launch took %.1f %% %s in %s than in the "
                "reference: the processor of this run was %s.\n",
                fabs(longer_pct), longer_pct > 0 ? "longer" : "less", c->sides[side].name,
                longer_pct > 0 ? "slower" : "faster");
}

static void write_clock(FILE *out, const struct comparison *c)
{
    for (size_t side = 1; side < c->n_sides; side++)
        write_speed(out, c, side);
    if (c->at_clock)
        fputs("Times are converted to the reference's clock rate, by a fixed computation "
              "beside each launch. --as-measured turns this off.\n",
              out);
    else if (c->as_measured[0])
        fprintf(out, "Times are not converted to one clock rate: %s.\n", c->as_measured);
}

void format_write_notes(FILE *out, const struct comparison *c)
{
    for (size_t side = 1; side < c->n_sides; side++)
        write_counts(out, c, side);
    write_reasons(out, c);
    for (size_t side = 0; side < c->n_sides; side++)
        write_disturbed(out, c, side);
    write_clock(out, c);
    write_level(out, c);
    write_repeats(out, c);
    write_floor(out, c);
    write_published(out, c);
    for (size_t side = 1; side < c->n_sides; side++) {
        list_points(out, c, side, 0, compare_is_lost, "No value in", " has one");
        list_points(out, c, side, 0, is_missing, "Not in", "");
        list_points(out, c, side, side, compare_is_unmatched, "Only in", "");
    }
    for (size_t side = 0; side < c->n_sides; side++)
        write_statuses(out, c, &c->sides[side]);
}
