/* Writes the plan of undecided claims: the launches that would decide each claim, and their wall
 * time. */
#include <math.h>
#include <string.h>

#include "bench/claims/claims.h"
#include "bench/collect/table/markup.h"
#include "bench/record/csv.h"
#include "kernels/base/terminal.h"
#include "kernels/base/text.h"

#define COLUMN(id, type, unit, meaning) CSV_CELL_##type id;
struct plan_row {
#include "bench/claims/csv_plan.def"
};
#undef COLUMN

#define COLUMN(id, type, unit, meaning)                                                            \
    CSV_COLUMN("claims_plan.csv", plan_row, id, type, unit, meaning)
static const struct column columns[] = {
#include "bench/claims/csv_plan.def"
};
#undef COLUMN

const struct csv_file claims_plan_file = {
    "claims_plan.csv",
    "One row per undecided claim, printed by `scalebench claims --plan --format csv`", columns,
    sizeof columns / sizeof *columns};

/* ---- Order ---- */

static bool has_number(const struct claim *claim)
{
    return claim->need.known && claim->need.launches > 0;
}

/* Returns whether the launches that one claim needs include all launches that another claim
 * needs. */
static bool includes(const struct claim_need *all, const struct claim_need *part)
{
    size_t found = 0;
    for (size_t i = 0; i < part->n_used; i++)
        for (size_t k = 0; k < all->n_used; k++)
            found += part->used[i].raw == all->used[k].raw && part->used[i].row == all->used[k].row;
    return found == part->n_used && part->launches <= all->launches;
}

static size_t count_decided(const struct claims *c, const struct claim *by)
{
    size_t n = 0;
    for (size_t i = 0; i < c->n && has_number(by); i++)
        n += has_number(&c->claims[i]) && includes(&by->need, &c->claims[i].need);
    return n;
}

/* Returns the number of claims decided by the launches that this claim needs, per second of
 * measurement. 0: no number of launches decides the claim. -1: the needed launches are unknown. */
static double value_of(const struct claims *c, const struct claim *claim)
{
    if (!has_number(claim))
        return claim->need.known ? 0 : -1;
    return (double)count_decided(c, claim) / fmax(claim->need.seconds, 1e-3);
}

/* Returns the undecided claim that follows `last` (NULL: the first claim); NULL if no more claims
 * follow. Order: most claims decided per second (value_of) first, then position in the file. */
static const struct claim *find_next(const struct claims *c, const struct claim *last)
{
    const struct claim *next = NULL;
    double before = last != NULL ? value_of(c, last) : INFINITY, most = 0;
    for (const struct claim *claim = c->claims; claim < c->claims + c->n; claim++) {
        if (claim->verdict != CLAIM_UNDECIDED)
            continue;
        double value = value_of(c, claim);
        bool follows = value < before || (value == before && claim > last);
        if (follows && (next == NULL || value > most)) {
            next = claim;
            most = value;
        }
    }
    return next;
}

/* ---- Rows ---- */

static const char *what_lacks(const struct claim_need *need)
{
    return !need->known ? NULL : need->seeds ? "seeds" : "launches";
}

/* Returns half the width of an interval; NAN if the interval is unbounded or `unknown`. */
static double half_width(const struct interval *i, bool unknown)
{
    return unknown || isinf(i->lo) || isinf(i->hi) ? NAN : (i->hi - i->lo) / 2;
}

static void fill_row(struct plan_row *row, const struct claims *c, const struct claim *claim)
{
    const struct claim_need *need = &claim->need;
    csv_clear_row(&claims_plan_file, row);
    row->claim = claim->id;
    row->lacks = what_lacks(need);
    row->command = claim->command;
    if (!need->known)
        return;
    row->launches_now = (long)need->now;
    row->value = need->value != NULL ? need->value->name : NULL;
    if (need->value != NULL)
        row->half_width_now = half_width(&need->value->number, false);
    if (need->launches == 0)
        return;
    row->launches_needed = (long)need->launches;
    row->minutes = need->seconds / 60;
    row->decides = (long)count_decided(c, claim);
    row->expected = claim_verdict_names[need->expected];
    row->half_width = half_width(&need->width, need->at_least);
}

void claims_plan_csv(FILE *out, const struct claims *c)
{
    csv_write_header(out, &claims_plan_file);
    for (const struct claim *claim = NULL; (claim = find_next(c, claim)) != NULL;) {
        struct plan_row row;
        fill_row(&row, c, claim);
        csv_write_row(out, &claims_plan_file, &row);
    }
}

/* ---- Tables for people ---- */

static const char *const headers[] = {"claim",   "now",      "needs", "time",
                                      "decides", "expected", "value", "half width"};
enum { HEADERS = sizeof headers / sizeof *headers, CELL = 200 };

static void name_needed(char text[CELL], const struct claim_need *need)
{
    const char *note = need->seconds > CLAIM_DAY_S ? " (more than a day)" : "";
    if (!need->known)
        snprintf(text, CELL, "launches are unknown");
    else if (need->launches == 0)
        snprintf(text, CELL, "a sharper metric or another bound");
    else
        snprintf(text, CELL, "%s%zu %s%s", need->at_least ? "at least " : "", need->launches,
                 what_lacks(need), note);
}

static void name_width(char text[CELL], const struct claim_need *need)
{
    char was[TEXT_NUMBER], is[TEXT_NUMBER];
    if (!need->known || need->value == NULL)
        return;
    text_significant(was, half_width(&need->value->number, false), 3);
    text_significant(is, half_width(&need->width, need->at_least || need->launches == 0), 3);
    snprintf(text, CELL, "%s -> %s", was, is);
}

static void fill_cells(char cells[HEADERS][CELL], const struct claims *c, const struct claim *claim)
{
    const struct claim_need *need = &claim->need;
    for (size_t i = 0; i < HEADERS; i++)
        snprintf(cells[i], CELL, "-");
    snprintf(cells[0], CELL, "%s", claim->id);
    name_needed(cells[2], need);
    name_width(cells[7], need);
    if (!need->known)
        return;
    snprintf(cells[1], CELL, "%zu", need->now);
    if (need->value != NULL)
        snprintf(cells[6], CELL, "%s", need->value->name);
    if (need->launches == 0)
        return;
    text_wall_time(cells[3], need->seconds);
    snprintf(cells[4], CELL, "%zu", count_decided(c, claim));
    snprintf(cells[5], CELL, "%s", claim_verdict_names[need->expected]);
}

static void measure_cells(int widths[HEADERS], const struct claims *c)
{
    char cells[HEADERS][CELL];
    for (size_t i = 0; i < HEADERS; i++)
        widths[i] = (int)strlen(headers[i]);
    for (const struct claim *claim = NULL; (claim = find_next(c, claim)) != NULL;) {
        fill_cells(cells, c, claim);
        for (size_t i = 0; i < HEADERS; i++)
            widths[i] = widths[i] > (int)strlen(cells[i]) ? widths[i] : (int)strlen(cells[i]);
    }
}

void claims_plan_text(FILE *out, const struct claims *c)
{
    char cells[HEADERS][CELL], clean[4 * CELL];
    int widths[HEADERS];
    measure_cells(widths, c);
    for (size_t i = 0; i < HEADERS; i++)
        fprintf(out, "%-*s%s", i + 1 < HEADERS ? widths[i] : 0, headers[i],
                i + 1 < HEADERS ? "  " : "\n");
    for (const struct claim *claim = NULL; (claim = find_next(c, claim)) != NULL;) {
        fill_cells(cells, c, claim);
        for (size_t i = 0; i < HEADERS; i++)
            fprintf(out, "%-*s%s", i + 1 < HEADERS ? widths[i] : 0,
                    terminal_clean(clean, sizeof clean, cells[i]), i + 1 < HEADERS ? "  " : "\n");
    }
    fprintf(out, "%zu of %zu claims are undecided.\n", c->verdicts[CLAIM_UNDECIDED], c->n);
}

void claims_plan_markdown(FILE *out, const struct claims *c)
{
    const struct markup *m = &markup_markdown;
    char cells[HEADERS][CELL];
    fputs(m->begin, out);
    for (size_t i = 0; i < HEADERS; i++)
        fprintf(out, "%s%s", headers[i], i + 1 < HEADERS ? m->between : m->end);
    fputs("|---|---|---|---|---|---|---|---|\n", out);
    for (const struct claim *claim = NULL; (claim = find_next(c, claim)) != NULL;) {
        fill_cells(cells, c, claim);
        fputs(m->begin, out);
        for (size_t i = 0; i < HEADERS; i++) {
            markup_write_text(out, m, cells[i]);
            fputs(i + 1 < HEADERS ? m->between : m->end, out);
        }
    }
}
