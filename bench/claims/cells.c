/* Computes claim values that are taken from tables, such as a median over rows of summary.csv, and
 * the intervals of medians. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bench/base/two_samples.h"
#include "bench/claims/tables.h"
#include "kernels/base/mem.h"
#include "kernels/base/names.h"

enum reduction {
#define REDUCTION(name, meaning) REDUCTION_##name,
#include "bench/claims/reductions.def"
    REDUCTIONS
};

static const char *const reduction_names[] = {
#define REDUCTION(name, meaning) #name,
#include "bench/claims/reductions.def"
};

/* A claim value of the form "[reduction] column of file [where condition]", and the rows that it
 * selects. */
struct cell {
    struct claim *claim;
    struct claim_value *value;
    char words[512]; /* the value's text up to `where`; `column` and `file` point into it */
    const char *column, *file;
    enum reduction reduction;
    struct condition *where; /* condition on rows; NULL: every row */
    const struct claim_table *table;
    struct taken_number {
        struct interval value;
        int line;
        const char *launch; /* the row's launch, borrowed from the table; NULL: the table has no
                               column `launch` */
    } * numbers;            /* [n] values of matching rows that have a number */
    size_t n;
    const char *word; /* text value of the last matching row that has one; NULL: none */
    const char *why;  /* cell `reason` of the last matching row that has no number; NULL: none */
    const struct claim_table *summary; /* summary.csv of the table's run; NULL: the table has
                                          published numbers */
    unsigned evidence;                 /* kinds of evidence of the matching rows, as bits 1 << enum
                                          claim_evidence; 0: published numbers, or no row matches */
    bool withheld;                     /* some matching row has no interval because ranks share
                                          cores */
};

/* ---- Parsing ---- */

static enum status find_reduction(struct cell *cell, const char *name, struct error *e)
{
    char text[512];
    int index = name_index(name, reduction_names, REDUCTIONS);
    if (index < 0)
        return claim_refuse_value(
            cell->value, e, name_explain(text, sizeof text, name, reduction_names, REDUCTIONS));
    cell->reduction = (enum reduction)index;
    return OK;
}

/* Reads `[reduction] column of file` from the first `length` characters of the value's text.
 * Without `of`, the value is arithmetic and cell->file stays NULL. */
static enum status split(struct cell *cell, size_t length, struct error *e)
{
    char *words[5] = {NULL}, *rest = cell->words, *word;
    size_t n = 0, of = 0;
    if (length >= sizeof cell->words)
        return claim_refuse_value(cell->value, e, "longer than 511 characters");
    snprintf(cell->words, sizeof cell->words, "%.*s", (int)length, cell->value->text);
    for (; n < 5 && (word = strtok_r(rest, " \t\n", &rest)) != NULL; n++) {
        words[n] = word;
        if (strcmp(word, "of") == 0)
            of = n;
    }
    if (of == 0)
        return OK;
    if (n != of + 2 || of > 2)
        return claim_refuse_value(cell->value, e,
                                  "expected '[reduction] column of file [where condition]'");
    cell->column = words[of - 1];
    cell->file = words[of + 1];
    return of == 2 ? find_reduction(cell, words[0], e) : OK;
}

static enum status read_where(struct cell *cell, size_t at, struct error *e)
{
    const struct claim_value *value = cell->value;
    struct node node = {.kind = NODE_SCALAR, .mark = value->mark};
    if (value->text[at] == '\0')
        return OK;
    at += strlen("where");
    node.mark = mark_ahead(node.mark, (int)at);
    node.text = strdup(value->text + at);
    enum status status = node.text != NULL ? condition_read(&cell->where, "where", &node, e)
                                           : error_no_memory(e, "a condition");
    free(node.text);
    return status;
}

/* ---- Rows ---- */

/* Replaces a missing or unusable interval of *number. The new interval is unbounded if
 * `has_interval` (the number varies between launches), otherwise exact: lo = hi = mid. */
static void open_interval(struct interval *number, bool has_interval)
{
    number->lo = has_interval ? -INFINITY : number->mid;
    number->hi = has_interval ? INFINITY : number->mid;
}

/* Converts column `kind`, such as "emulated and replayed", to bits 1 << enum claim_evidence. */
static unsigned kind_of(const struct csv_table *table, size_t row)
{
    const char *kind = csv_table_text(table, row, "kind");
    unsigned bits = 0;
    for (int i = 0; i < CLAIM_EVIDENCES; i++)
        bits |= strstr(kind, claim_evidence_names[i]) != NULL ? 1u << i : 0;
    return bits;
}

/* Returns the evidence of a row, as bits 1 << enum claim_evidence, from its column `kind`. If the
 * row has no kind, uses the kind of the same point in summary.csv. Default: EVIDENCE_measured. */
static unsigned evidence_of(const struct check_point *own, const struct claim_table *summary)
{
    const struct csv_table *table = &own->c->run.summary, *points = &summary->rows.run.summary;
    const char *id = csv_table_text(table, own->point, "point");
    unsigned bits = kind_of(table, own->point);
    if (bits == 0 && summary->there)
        for (size_t i = 0; i < points->rows; i++)
            if (id[0] && strcmp(csv_table_text(points, i, "point"), id) == 0)
                bits |= kind_of(points, i);
    return bits != 0 ? bits : 1u << EVIDENCE_measured;
}

/* How to find the confidence level of an interval in a column whose name starts with `begins`.
 * Column `by` has the level or, if `pairs`, the number of launch pairs. */
static const struct {
    const char *begins, *by;
    bool pairs;
} sureties[] = {{"test_acc", "test_acc_level", false},    {"to_target", "test_acc_level", false},
                {"noise_scale", "test_acc_level", false}, {"speedup", "speedup_pairs", true},
                {"efficiency", "speedup_pairs", true},    {"karp_flatt", "speedup_pairs", true},
                {"peer_ratio", "peer_pairs", true},       {"torch_ratio", "torch_pairs", true},
                {"onednn_ratio", "onednn_pairs", true},   {"overlap_share", "overlap_pairs", true}};
#define SURETIES (sizeof sureties / sizeof *sureties)

/* Returns whether the interval of `column` in this row has a confidence level below CLAIM_LEVEL;
 * false if the level is unknown. For columns in `sureties`, another column gives the level, or the
 * number of launch pairs that determines it. For other columns, or if the number of pairs is
 * missing (tables of earlier versions), the level of step_ms is used (column ci_level). */
static bool is_too_weak(const char *column, const struct check_point *point)
{
    const struct csv_table *table = &point->c->run.summary;
    double level = NAN;
    size_t i = 0;
    while (i < SURETIES && strncmp(column, sureties[i].begins, strlen(sureties[i].begins)) != 0)
        i++;
    if (i < SURETIES)
        level = csv_table_value(table, point->point, sureties[i].by);
    if (i < SURETIES && sureties[i].pairs && !isnan(level))
        return stats_median_level((size_t)level, CLAIM_LEVEL) < CLAIM_LEVEL;
    if (i == SURETIES || sureties[i].pairs)
        level = csv_table_value(table, point->point, "ci_level");
    return level < CLAIM_LEVEL;
}

static bool is_measured(const struct cell *cell)
{
    return cell->summary != NULL && strcmp(file_name(cell->file), "summary.csv") == 0 &&
           check_is_measured(cell->column);
}

static void take_row(struct cell *cell, const struct check_point *point)
{
    struct condition_value value = {.number = NAN};
    const struct csv_table *table = &point->c->run.summary;
    bool launches = csv_table_find(table, "launch") >= 0;
    struct taken_number *own = &cell->numbers[cell->n];
    cell->value->found[cell->value->n_found++] = point->point;
    own->line = table->lines[point->point];
    check_look_up(&value, cell->column, point);
    own->value = (struct interval){.lo = value.lo, .mid = value.number, .hi = value.hi};
    cell->withheld |= value.spread && isinf(value.lo);
    if (!value.spread || is_too_weak(cell->column, point))
        open_interval(&own->value, is_measured(cell) || check_has_interval(table, cell->column));
    own->launch = launches ? csv_table_text(table, point->point, "launch") : NULL;
    if (cell->summary != NULL)
        cell->evidence |= evidence_of(point, cell->summary);
    if (!isnan(value.number)) {
        cell->n++;
        return;
    }
    if (value.text != NULL && value.text[0] != '\0')
        cell->word = value.text;
    cell->why = csv_table_text(table, point->point, "reason");
}

static enum status check_names(const struct cell *cell, const struct check_point *first,
                               struct error *e)
{
    struct condition_value cell_value;
    const struct csv_table *table = &first->c->run.summary;
    char why[700], near[NAME_NEAR_BYTES];
    const char *unknown = cell->column;
    if (check_look_up(&cell_value, cell->column, first))
        unknown = cell->where != NULL ? condition_unknown(cell->where, check_look_up, first) : NULL;
    if (unknown == NULL)
        return OK;
    snprintf(why, sizeof why, "%.200s has no column %.200s%s", cell->file, unknown,
             name_near(near, unknown, (const char *const *)table->names, table->columns));
    return claim_refuse_value(cell->value, e, why);
}

static enum status take_rows(struct cell *cell, struct error *e)
{
    size_t n = cell->table->rows.run.summary.rows;
    TRY(MEM_NEW(cell->numbers, n + 1, "the rows of a claim", e));
    TRY(MEM_NEW(cell->value->found, n + 1, "the rows of a claim", e));
    if (n > 0)
        TRY(check_names(cell, &(struct check_point){&cell->table->rows, 0}, e));
    for (size_t i = 0; i < n; i++) {
        const struct check_point point = {&cell->table->rows, i};
        if (cell->where == NULL || condition_holds(cell->where, check_look_up, &point))
            take_row(cell, &point);
    }
    return OK;
}

/* ---- Reductions ---- */

/* Returns the smallest (sign 1) or largest (sign -1) lo, mid and hi of the cell's numbers, each
 * selected separately. *line: line of the row with the selected mid. */
static struct interval least(int *line, const struct cell *cell, double sign)
{
    struct interval r = cell->numbers[0].value;
    *line = cell->numbers[0].line;
    for (size_t i = 1; i < cell->n; i++) {
        const struct interval *v = &cell->numbers[i].value;
        if (sign * v->mid < sign * r.mid)
            *line = cell->numbers[i].line;
        r.lo = sign * v->lo < sign * r.lo ? v->lo : r.lo;
        r.mid = sign * v->mid < sign * r.mid ? v->mid : r.mid;
        r.hi = sign * v->hi < sign * r.hi ? v->hi : r.hi;
    }
    return r;
}

static struct interval sum_over(const struct cell *cell, double n)
{
    struct interval r = {.lo = 0};
    for (size_t i = 0; i < cell->n; i++) {
        r.lo += cell->numbers[i].value.lo / n;
        r.mid += cell->numbers[i].value.mid / n;
        r.hi += cell->numbers[i].value.hi / n;
    }
    return r;
}

/* Returns an interval for n >= 2 values: mid = `median`, with the bounds of Student's t interval of
 * the mean. The level is exact if x[] is normally distributed. */
static struct interval normal_interval(const double *x, size_t n, double median)
{
    double mean = x[0], squares = 0;
    for (size_t i = 0; i < n; i++)
        mean += (x[i] - x[0]) / (double)n; /* adding differences keeps the mean exact if all values
                                              are equal */
    for (size_t i = 0; i < n; i++)
        squares += (x[i] - mean) * (x[i] - mean);
    double half = student_quantile((1 + CLAIM_LEVEL) / 2, (double)(n - 1)) *
                  sqrt(squares / (double)(n - 1) / (double)n);
    return (struct interval){mean - half, median, mean + half, CLAIM_LEVEL, true};
}

struct interval claim_median_interval(const double *x, size_t n)
{
    struct interval r = stats_median_interval(x, n, CLAIM_LEVEL);
    if (n == 1)
        open_interval(&r, true);
    return r.met || n == 1 ? r : normal_interval(x, n, r.mid);
}

/* Fills x[] with one value per launch: the median of the launch's consecutive rows. If the table
 * has no column `launch`, fills x[] with the values of all rows. Returns the number of values in
 * x[]. `own`: scratch space for cell->n values. */
static size_t find_launches(double *x, double *own, const struct cell *cell)
{
    size_t n = 0;
    for (size_t i = 0, rows; i < cell->n; i += rows) {
        const char *launch = cell->numbers[i].launch;
        rows = 0;
        do {
            own[rows] = cell->numbers[i + rows].value.mid;
            rows++;
        } while (launch != NULL && i + rows < cell->n &&
                 strcmp(cell->numbers[i + rows].launch, launch) == 0);
        x[n++] = stats_median(own, rows);
    }
    return n;
}

/* Computes the median over launches and the interval of this median. A single row keeps its own
 * interval. If a single row has no interval and its table belongs to a run, the interval is
 * unbounded. Several published numbers give an exact median: lo = hi = mid. */
static enum status find_median(struct interval *r, const struct cell *cell, struct error *e)
{
    double *x;
    TRY(MEM_NEW(x, 2 * cell->n, "a median", e));
    size_t n = find_launches(x, x + cell->n, cell);
    if (cell->n == 1) {
        *r = cell->numbers[0].value;
        if (cell->summary != NULL && r->lo == r->hi)
            open_interval(r, true);
    } else {
        *r = claim_median_interval(x, n);
        if (cell->summary == NULL)
            open_interval(r, false);
    }
    free(x);
    return OK;
}

static enum status reduce(const struct cell *cell, struct error *e)
{
    struct interval *r = &cell->value->number;
    switch (cell->reduction) {
    case REDUCTION_min:
        *r = least(&cell->value->line, cell, 1);
        return OK;
    case REDUCTION_max:
        *r = least(&cell->value->line, cell, -1);
        return OK;
    case REDUCTION_sum:
        *r = sum_over(cell, 1);
        return OK;
    case REDUCTION_mean:
        *r = sum_over(cell, (double)cell->n);
        return OK;
    case REDUCTION_median:
        return find_median(r, cell, e);
    default:
        *r = cell->numbers[0].value;
        return OK;
    }
}

/* Sets value->rows to the addresses of the matching rows, such as "published/a.csv#L3
 * published/a.csv#L5-L7". */
static enum status link_rows(const struct cell *cell, struct error *e)
{
    size_t size;
    FILE *out = open_memstream(&cell->value->rows, &size);
    if (out == NULL)
        return error_no_memory(e, "the rows of a claim");
    const int *lines = cell->table->rows.run.summary.lines;
    const size_t *found = cell->value->found, n = cell->value->n_found;
    for (size_t i = 0, last; i < n; i = last + 1) {
        for (last = i; last + 1 < n && lines[found[last + 1]] == lines[found[last]] + 1;)
            last++;
        fprintf(out, "%s%s#L%d", i > 0 ? " " : "", cell->table->link, lines[found[i]]);
        if (last > i)
            fprintf(out, "-L%d", lines[found[last]]);
    }
    return fclose(out) == 0 ? OK : error_no_memory(e, "the rows of a claim");
}

/* Returns whether any row of the table contains the text that the term requires. */
static bool has_text(const struct claim_table *table, const struct condition_term *term)
{
    for (size_t i = 0; i < table->rows.run.summary.rows; i++) {
        const char *text = csv_table_text(&table->rows.run.summary, i, term->name);
        if (text != NULL && strcmp(text, term->text) == 0)
            return true;
    }
    return false;
}

/* Explains why no row matches. Names the first text in the condition that no row contains, since it
 * is probably misspelt. */
static const char *name_missing(char text[200], const struct cell *cell)
{
    size_t n = 0;
    const struct condition_term *terms =
        cell->where != NULL ? condition_terms(cell->where, &n) : NULL;
    for (size_t i = 0; i < n; i++)
        if (terms[i].text != NULL && terms[i].relation == RELATION_EQUAL &&
            isnan(terms[i].number) && !has_text(cell->table, &terms[i])) {
            snprintf(
                text, 200,
                "no row has %.60s = %.60s; correct the word, or run the campaign with such a point",
                terms[i].name, terms[i].text);
            return text;
        }
    return "no row matches; correct the condition, or run the campaign with such a point";
}

/* Handles a cell without numbers. If reduction `only` found a text, copies the text to value->word.
 * If the cell has no text either and its table belongs to a run, sets claim->reason unless it is
 * already set. In all other cases returns ERR_SPEC. */
static enum status find_nothing(const struct cell *cell, struct error *e)
{
    struct claim_value *value = cell->value;
    char *reason = cell->claim->reason;
    value->number.mid = NAN;
    if (cell->word != NULL && cell->reduction == REDUCTION_only) {
        value->word = strdup(cell->word);
        return value->word != NULL ? OK : error_no_memory(e, "a claim");
    }
    if (cell->table->run == NULL || cell->word != NULL)
        return claim_refuse_value(
            value, e, value->n_found > 0 ? "no matching row has a number" : "no row matches");
    char missing[200];
    if (!reason[0])
        snprintf(reason, sizeof cell->claim->reason, "%.180s of %s: %.200s", cell->column,
                 cell->table->link,
                 value->n_found == 0                 ? name_missing(missing, cell)
                 : cell->why != NULL && cell->why[0] ? cell->why
                                                     : "the row has no value");
    return OK;
}

static enum status read_rows(struct cell *cell, struct error *e)
{
    struct claim_value *value = cell->value;
    TRY(take_rows(cell, e));
    TRY(link_rows(cell, e));
    value->withheld = cell->withheld;
    value->sampled = cell->reduction == REDUCTION_only || cell->reduction == REDUCTION_median;
    cell->claim->evidence |= cell->evidence;
    if (cell->reduction == REDUCTION_count) {
        value->number.lo = value->number.mid = value->number.hi = (double)value->n_found;
        return OK;
    }
    if (cell->reduction == REDUCTION_only && value->n_found > 1)
        return claim_refuse_value(value, e, "several rows match; use a reduction such as median");
    return cell->n > 0 ? reduce(cell, e) : find_nothing(cell, e);
}

static bool has_command(const char *commands, const char *command)
{
    size_t length = strlen(command);
    for (const char *at = commands; at != NULL; at = strchr(at, ';'), at = at ? at + 2 : NULL)
        if (strcspn(at, ";") == length && strncmp(at, command, length) == 0)
            return true;
    return false;
}

static enum status add_command(struct claim *claim, const struct node *run, struct error *e)
{
    char *text;
    if (claim->command != NULL && has_command(claim->command, run->text))
        return OK;
    if (asprintf(&text, "%s%s%s", claim->command != NULL ? claim->command : "",
                 claim->command != NULL ? "; " : "", run->text) < 0)
        return error_no_memory(e, "the command of a claim");
    free(claim->command);
    claim->command = text;
    return OK;
}

static enum status find_cell(struct cell *cell, struct claims *c, struct error *e)
{
    struct claim *claim = cell->claim;
    struct mark mark = cell->value->mark;
    char name[256];
    TRY(claim_tables_find(&cell->table, c, cell->file, mark, e));
    cell->value->of_table = true;
    cell->value->table = cell->table;
    snprintf(cell->value->column, sizeof cell->value->column, "%s", cell->column);
    if (cell->reduction != REDUCTION_count)
        cell->value->unit = condition_unit_in(cell->column);
    if (cell->table->run == NULL)
        claim->evidence |= 1u << EVIDENCE_published;
    else {
        snprintf(name, sizeof name, "%.200s/summary.csv", cell->table->run->key);
        TRY(claim_tables_find(&cell->summary, c, name, mark, e));
        TRY(add_command(claim, cell->table->run, e));
    }
    if (cell->table->there)
        return read_rows(cell, e);
    cell->value->number.mid = NAN;
    if (!claim->reason[0])
        snprintf(claim->reason, sizeof claim->reason,
                 "needs %s beside the claims file, which is not measured yet", cell->table->link);
    return OK;
}

/* ---- Cells and arithmetic ---- */

enum status claim_find_value(struct claim *claim, size_t i, struct claims *c, struct error *e)
{
    struct claim_value *value = &claim->values[i];
    struct cell cell = {.claim = claim, .value = value, .reduction = REDUCTION_only};
    size_t where = check_find_where(value->text);
    TRY(split(&cell, where, e));
    if (cell.file == NULL)
        return claim_find_sum(claim, i, e);
    enum status status = read_where(&cell, where, e);
    THEN(status, find_cell(&cell, c, e));
    condition_free(cell.where);
    free(cell.numbers);
    return status;
}
