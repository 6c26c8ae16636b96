#include "bench/compare/exact.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bench/compare/junit.h"
#include "bench/compare/operand.h"
#include "bench/spec/value.h"
#include "kernels/base/mem.h"
#include "kernels/base/terminal.h"

/* largest relative difference from the expected number at which a number counts as equal */
#define EXACT_TOLERANCE 1e-9

enum { REFERENCE, RUN, SIDES };

/* ---- Values ---- */

static const char *column_name(const struct exact *x, size_t column)
{
    return column_get(x->columns[column])->name;
}

/* Returns the value of a column at a point, as text; "": unknown. */
static const char *value_of(const struct side *side, const struct side_point *p, const char *column)
{
    return csv_table_text(&side->summary, (size_t)(p - side->points), column);
}

static bool is_equal(const char *a, const char *b)
{
    double x, y;
    if (!number_parse(a, &x) || !number_parse(b, &y))
        return strcmp(a, b) == 0;
    return fabs(x - y) <= EXACT_TOLERANCE * fabs(x);
}

/* Returns whether the column's value differs between valid timed launches of the point. */
static bool varies(const struct side *side, const struct side_point *p, const char *column)
{
    const struct csv_table *raw = &side->raw;
    const char *first = "";
    for (size_t row = 0; row < raw->rows; row++) {
        const char *value = csv_table_text(raw, row, column);
        if (!value[0] || strcmp(csv_table_text(raw, row, "point"), p->id) != 0 ||
            strcmp(csv_table_text(raw, row, "run"), "time") != 0 ||
            strcmp(csv_table_text(raw, row, "status"), "ok") != 0)
            continue;
        if (first[0] && !is_equal(first, value))
            return true;
        first = value;
    }
    return false;
}

static enum exact_outcome outcome_of(const struct exact *x, size_t i, size_t column)
{
    const struct side *sides = x->c.sides;
    const struct side_point *reference = &sides[REFERENCE].points[i];
    const struct side_point *run = compare_cell(&x->c, i, RUN)->point;
    const char *name = column_name(x, column);
    const char *expected = value_of(&sides[REFERENCE], reference, name);
    const char *found = run != NULL ? value_of(&sides[RUN], run, name) : "";
    if (!expected[0] || !found[0])
        return expected[0] ? EXACT_LOST : EXACT_ABSENT;
    if (varies(&sides[REFERENCE], reference, name))
        return EXACT_VARIES;
    return is_equal(expected, found) && !varies(&sides[RUN], run, name) ? EXACT_EQUAL
                                                                        : EXACT_DIFFERS;
}

static bool has_failed(const struct exact *x, size_t i)
{
    const struct side_point *run = compare_cell(&x->c, i, RUN)->point;
    return run != NULL && side_point_failed(run) &&
           !side_point_failed(&x->c.sides[REFERENCE].points[i]);
}

static void find_outcomes(struct exact *x)
{
    for (size_t i = 0; i < x->c.sides[REFERENCE].n; i++) {
        x->failed += has_failed(x, i);
        for (size_t k = 0; k < x->n_columns; k++) {
            enum exact_outcome outcome = outcome_of(x, i, k);
            x->outcomes[i * x->n_columns + k] = outcome;
            x->counts[outcome]++;
        }
    }
}

/* ---- Runs ---- */

static enum status read_sides(struct exact *x, const struct exact_request *request, struct error *e)
{
    const char *const operands[SIDES] = {[REFERENCE] = request->reference, [RUN] = request->run};
    const struct compared *what;
    char path[PATH_BYTES];
    TRY(operand_check_campaigns(operands, SIDES, request->out, request->home, e));
    TRY(compared_find(&what, "step_ms", e));
    TRY(MEM_NEW(x->c.sides, SIDES, "the runs to compare", e));
    x->c.n_sides = SIDES;
    for (size_t i = 0; i < SIDES; i++) {
        TRY(operand_find(path, operands[i], request->out, request->home, e));
        TRY(side_read(&x->c.sides[i], operands[i], path, what, e));
    }
    if (strcmp(x->c.sides[0].path, x->c.sides[1].path) == 0)
        return error_set(e, ERR_ARGUMENT,
                         "check: '%s' is compared with itself, so no value can differ. Give "
                         "another run to --exact",
                         request->run);
    return OK;
}

enum status exact_run(struct exact *x, const struct exact_request *request, struct error *e)
{
    *x = (struct exact){.failed = 0};
    x->columns = columns_exact(&x->n_columns);
    TRY(read_sides(x, request, e));
    TRY(compare_match(&x->c, e));
    TRY(MEM_NEW(x->outcomes, x->c.sides[REFERENCE].n * x->n_columns, "the values to compare", e));
    find_outcomes(x);
    if (x->counts[EXACT_EQUAL] + x->counts[EXACT_DIFFERS] > 0)
        return OK;
    return error_set(e, ERR_ARGUMENT,
                     "check: nothing to compare: no point has values of exact columns in both "
                     "'%s' and '%s'. Use runs of the same points",
                     request->reference, request->run);
}

void exact_free(struct exact *x)
{
    compare_free(&x->c);
    free(x->outcomes);
    *x = (struct exact){.failed = 0};
}

bool exact_agrees(const struct exact *x, bool strict)
{
    return x->counts[EXACT_DIFFERS] == 0 && x->failed == 0 &&
           !(strict && x->counts[EXACT_LOST] > 0);
}

/* ---- Text ---- */

static void write_value(FILE *out, const struct exact *x, size_t i, size_t column)
{
    const struct side *sides = x->c.sides;
    const struct side_point *run = compare_cell(&x->c, i, RUN)->point;
    const char *name = column_name(x, column);
    enum exact_outcome outcome = x->outcomes[i * x->n_columns + column];
    fprintf(out, "%s: ", name);
    if (outcome == EXACT_VARIES) {
        fprintf(out, "not compared, since launches of %s differ", sides[REFERENCE].name);
        return;
    }
    fprintf(out, "expected %s, found %s%s",
            value_of(&sides[REFERENCE], &sides[REFERENCE].points[i], name),
            outcome == EXACT_LOST ? "none" : value_of(&sides[RUN], run, name),
            outcome == EXACT_DIFFERS && varies(&sides[RUN], run, name) ? "; launches differ" : "");
}

/* Writes each reason why a point differs from the reference or is not compared, with `before` in
 * front of each reason and `end` after each. */
static void write_reasons(FILE *out, const struct exact *x, size_t i, const char *before,
                          const char *end)
{
    const struct side_point *run = compare_cell(&x->c, i, RUN)->point;
    const char *name = x->c.sides[RUN].name;
    if (run == NULL)
        fprintf(out, "%smissing in %s%s", before, name, end);
    else if (has_failed(x, i))
        fprintf(out, "%sstatus %s in %s%s", before, run->status, name, end);
    for (size_t k = 0; k < x->n_columns && run != NULL && !has_failed(x, i); k++) {
        enum exact_outcome outcome = x->outcomes[i * x->n_columns + k];
        if (outcome == EXACT_EQUAL || outcome == EXACT_ABSENT)
            continue;
        fputs(before, out);
        write_value(out, x, i, k);
        fputs(end, out);
    }
}

void exact_write_text(FILE *out, const struct exact *x, bool strict)
{
    char label[512];
    const struct side *reference = &x->c.sides[REFERENCE], *run = &x->c.sides[RUN];
    for (size_t i = 0; i < reference->n; i++) {
        terminal_clean(label, sizeof label - 2, compare_label(&reference->points[i]));
        write_reasons(out, x, i, strcat(label, ": "), "\n");
    }
    for (size_t i = 0; i < run->n; i++)
        if (compare_is_unmatched(&x->c, i, RUN))
            fprintf(out, "%s: missing in %s\n",
                    terminal_clean(label, sizeof label, compare_label(&run->points[i])),
                    reference->name);
    fprintf(out, "%s against %s: %zu values equal, %zu differ, %zu missing.\n", run->name,
            reference->name, x->counts[EXACT_EQUAL], x->counts[EXACT_DIFFERS],
            x->counts[EXACT_LOST]);
}

/* ---- JUnit XML ---- */

struct report {
    const struct exact *x;
    bool strict;
};

static enum junit_result result_of(const struct exact *x, size_t i, bool strict)
{
    size_t counts[EXACT_OUTCOMES] = {0};
    for (size_t k = 0; k < x->n_columns; k++)
        counts[x->outcomes[i * x->n_columns + k]]++;
    if (counts[EXACT_DIFFERS] > 0 || has_failed(x, i) || (strict && counts[EXACT_LOST] > 0))
        return JUNIT_FAILED;
    return counts[EXACT_EQUAL] > 0 ? JUNIT_PASSED : JUNIT_SKIPPED;
}

static void fill_test(struct junit_test *test, const void *arg, size_t suite, size_t i)
{
    const struct report *report = arg;
    const struct exact *x = report->x;
    size_t size = 0;
    *test = (struct junit_test){.name = compare_label(&x->c.sides[REFERENCE].points[i]),
                                .type = "differs",
                                .result = result_of(x, i, report->strict)};
    snprintf(test->suite, sizeof test->suite, "exact values of %s against %s", x->c.sides[RUN].name,
             x->c.sides[REFERENCE].name);
    FILE *out = open_memstream(&test->message, &size);
    if (out == NULL)
        return;
    write_reasons(out, x, i, "", "; ");
    if (fclose(out) == 0 && size > 2)
        test->message[size - 2] = '\0';
}

void exact_write_junit(FILE *out, const struct exact *x, bool strict)
{
    const struct report report = {x, strict};
    junit_write(out, &(struct junit){1, x->c.sides[REFERENCE].n, fill_test, &report});
}
