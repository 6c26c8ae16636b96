/* Writes judged claims as text, CSV or Markdown. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bench/claims/claims.h"
#include "bench/collect/table/markup.h"
#include "bench/record/csv.h"
#include "kernels/base/names.h"
#include "kernels/base/terminal.h"
#include "kernels/base/text.h"

static const struct {
    const char *name;
    claims_writer *writer, *plan_writer;
} formats[] = {
#define CLAIM_FORMAT(name, writer, plan_writer, meaning) {#name, writer, plan_writer},
#include "bench/claims/claim_formats.def"
};
#define N_FORMATS (sizeof formats / sizeof *formats)

static const char *const counts[CLAIM_VERDICTS] = {
#define CLAIM_VERDICT(id, name, count, meaning) count,
#include "bench/claims/verdicts.def"
};

enum status claims_find_writer(claims_writer **writer, const char *name, bool plan, struct error *e)
{
    int index;
    TRY(option_row("format", name, formats, N_FORMATS, sizeof *formats, &index, e));
    *writer = plan ? formats[index].plan_writer : formats[index].writer;
    return OK;
}

static void name_evidence(char text[64], const struct claim *claim)
{
    text[0] = '\0';
    for (int i = 0; i < CLAIM_EVIDENCES; i++)
        if (claim->evidence & 1u << i)
            text_join(text, 64, ", ", claim_evidence_names[i]);
    if (text[0] == '\0')
        snprintf(text, 64, "none");
}

/* Returns the length of the report's name, the part of an id before the slash. */
static int report_length(const struct claim *claim)
{
    return (int)strcspn(claim->id, "/");
}

static bool share_report(const struct claim *a, const struct claim *b)
{
    return strncmp(a->id, b->id, (size_t)report_length(a) + 1) == 0;
}

void claims_write_counts(FILE *out, const struct claims *c, const struct claim *of)
{
    size_t n[CLAIM_VERDICTS] = {0}, all = 0;
    for (size_t i = 0; i < c->n; i++) {
        bool counts_here =
            !c->claims[i].left_out && (of == NULL || share_report(&c->claims[i], of));
        n[c->claims[i].verdict] += counts_here;
        all += counts_here;
    }
    fprintf(out, "%zu claims:", all);
    for (size_t i = 0; i < CLAIM_VERDICTS; i++)
        fprintf(out, "%s %zu %s", i > 0 ? "," : "", n[i], counts[i]);
}

static bool begins_report(const struct claims *c, size_t i)
{
    return i == 0 || !share_report(&c->claims[i], &c->claims[i - 1]);
}

/* Writes a value with `digits` significant digits, and its interval if it has one. Writes an exact
 * whole number in full, and a text unchanged. Returns `text`. */
char *claim_value_text(char text[CLAIM_VALUE_TEXT], const struct claim_value *value, int digits)
{
    char number[TEXT_INTERVAL];
    struct interval shown = value->number;
    bool exact = shown.lo == shown.hi;
    if (exact)
        shown.lo = shown.hi = NAN;
    snprintf(text, CLAIM_VALUE_TEXT, "%s",
             value->word != NULL                      ? value->word
             : exact && shown.mid == trunc(shown.mid) ? text_whole(number, shown.mid)
                                                      : text_interval(number, &shown, digits));
    return text;
}

char *claim_address(char text[CLAIM_ADDRESS], const struct claim_value *value, size_t index)
{
    bool several = value == NULL || value->rows == NULL || value->rows[0] == '\0' ||
                   strchr(value->rows, ' ') != NULL;
    if (value != NULL && value->line > 0)
        snprintf(text, CLAIM_ADDRESS, "%.*s#L%d", (int)strcspn(value->rows, "#"), value->rows,
                 value->line);
    else if (several)
        snprintf(text, CLAIM_ADDRESS, "claims.csv#L%zu",
                 index + 2); /* line 1 is the header of claims.csv, line 2 its first row */
    else
        snprintf(text, CLAIM_ADDRESS, "%s", value->rows);
    return text;
}

/* Writes the name of the method behind the value's interval, such as " (two samples)". Writes
 * nothing if the interval has no method. */
static void write_method(FILE *out, const struct claim_value *value)
{
    const char *name = claim_method_name(value);
    if (name != NULL)
        fprintf(out, " (%s)", name);
}

/* ---- Text ---- */

static void write_clean(FILE *out, const char *text)
{
    char clean[2048];
    fputs(terminal_clean(clean, sizeof clean, text), out);
}

static void write_claim(FILE *out, const struct claim *claim)
{
    char text[CLAIM_VALUE_TEXT];
    fprintf(out, "  %-12s  ", claim_verdict_names[claim->verdict]);
    write_clean(out, strchr(claim->id, '/') + 1);
    fputs(" (", out);
    write_clean(out, claim->place);
    fputs("): ", out);
    write_clean(out, claim->says);
    fputs("\n                ", out);
    bool judged = claim->verdict != CLAIM_NOT_TESTABLE;
    for (size_t i = 0; i < claim->n && judged; i++) {
        fprintf(out, "%s ", claim->values[i].name);
        write_clean(out, claim_value_text(text, &claim->values[i], 4));
        write_method(out, &claim->values[i]);
        fputs(i + 1 < claim->n ? ", " : "; ", out);
    }
    if (judged)
        write_clean(out, condition_text(claim->holds));
    if (claim->reason[0]) {
        fputs(judged ? "; " : "", out);
        write_clean(out, claim->reason);
        if (!judged && claim->command != NULL && claim->untestable == NULL) {
            fputs(": ", out);
            write_clean(out, claim->command);
        }
    }
    fputc('\n', out);
}

void claims_write_text(FILE *out, const struct claims *c)
{
    const struct claim *before = NULL;
    for (size_t i = 0; i < c->n; i++) {
        const struct claim *claim = &c->claims[i];
        if (claim->left_out)
            continue;
        if (before == NULL || !share_report(claim, before)) {
            fprintf(out, "%s%.*s, ", before != NULL ? "\n" : "", report_length(claim), claim->id);
            claims_write_counts(out, c, claim);
            fputc('\n', out);
        }
        write_claim(out, claim);
        before = claim;
    }
    fputs(c->n > 0 ? "\nAll " : "", out);
    claims_write_counts(out, c, NULL);
    fputs(".\n", out);
}

/* ---- CSV ---- */

#define COLUMN(id, type, unit, meaning) CSV_CELL_##type id;
struct claim_row {
#include "bench/claims/csv_claims.def"
};
#undef COLUMN

#define COLUMN(id, type, unit, meaning) CSV_COLUMN("claims.csv", claim_row, id, type, unit, meaning)
static const struct column columns[] = {
#include "bench/claims/csv_claims.def"
};
#undef COLUMN

const struct csv_file claims_file = {
    "claims.csv", "One row per claim, printed by `scalebench claims --format csv`", columns,
    sizeof columns / sizeof *columns};

enum part { PART_TEXTS, PART_NUMBERS, PART_METHODS, PART_ROWS, PARTS };

static const char *part_of(char text[CLAIM_VALUE_TEXT], const struct claim_value *value,
                           enum part part)
{
    bool known = value->word != NULL || !isnan(value->number.mid);
    return part == PART_TEXTS     ? value->text
           : part == PART_METHODS ? claim_method_name(value)
           : part == PART_ROWS    ? value->rows
           : known                ? claim_value_text(text, value, 4)
                                  : NULL;
}

/* Joins one part (texts, numbers, methods or rows) of all values of a claim. The caller frees the
 * result; NULL if memory runs out. */
static char *join_values(const struct claim *claim, enum part part)
{
    char *joined = NULL, text[CLAIM_VALUE_TEXT];
    size_t size, n = 0;
    FILE *out = open_memstream(&joined, &size);
    if (out == NULL)
        return NULL;
    for (size_t i = 0; i < claim->n; i++) {
        const char *own = part_of(text, &claim->values[i], part);
        if (own != NULL && own[0])
            fprintf(out, "%s%s%s %s", n++ > 0 ? "; " : "", claim->values[i].name,
                    part == PART_NUMBERS ? "" : ":", own);
    }
    return fclose(out) == 0 ? joined : NULL;
}

static void write_row(FILE *out, const struct claim *claim)
{
    struct claim_row row;
    char evidence[64];
    char *texts[PARTS];
    for (enum part part = 0; part < PARTS; part++)
        texts[part] = join_values(claim, part);
    csv_clear_row(&claims_file, &row);
    row.id = claim->id;
    row.kind = claim->kind;
    row.place = claim->place;
    row.says = claim->says;
    row.values = texts[PART_TEXTS];
    row.holds = claim->holds != NULL ? condition_text(claim->holds) : NULL;
    row.numbers = texts[PART_NUMBERS];
    row.methods = texts[PART_METHODS];
    row.rows = texts[PART_ROWS];
    name_evidence(evidence, claim);
    row.evidence = evidence;
    row.command = claim->command;
    row.verdict = claim_verdict_names[claim->verdict];
    row.reason = claim->reason;
    csv_write_row(out, &claims_file, &row);
    for (size_t i = 0; i < PARTS; i++)
        free(texts[i]);
}

void claims_write_csv(FILE *out, const struct claims *c)
{
    csv_write_header(out, &claims_file);
    for (size_t i = 0; i < c->n; i++)
        write_row(out, &c->claims[i]);
}

/* ---- Markdown ---- */

/* Writes each value as its name and a Markdown link: "ratio [1.93](published/a.csv#L5), ...". The
 * link leads to the value's row, or to the claim's row in claims.csv if the value has no single
 * address (claim_address). Appends the method behind the interval, if any. */
static void write_numbers(FILE *out, const struct claim *claim, size_t index)
{
    char text[CLAIM_VALUE_TEXT], address[CLAIM_ADDRESS];
    for (size_t i = 0; i < claim->n; i++) {
        fputs(i > 0 ? ", " : "", out);
        markup_write_text(out, &markup_markdown, claim->values[i].name);
        fputs(" [", out);
        markup_write_text(out, &markup_markdown, claim_value_text(text, &claim->values[i], 4));
        fprintf(out, "](%s)", claim_address(address, &claim->values[i], index));
        write_method(out, &claim->values[i]);
    }
}

static void write_line(FILE *out, const struct claim *claim, size_t index)
{
    const struct markup *m = &markup_markdown;
    const char *texts[] = {claim_verdict_names[claim->verdict],
                           strchr(claim->id, '/') + 1,
                           claim->kind,
                           claim->place,
                           claim->says,
                           claim->holds != NULL ? condition_text(claim->holds) : "-"};
    fputs(m->begin, out);
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        markup_write_text(out, m, texts[i]);
        fputs(m->between, out);
    }
    bool judged = claim->verdict != CLAIM_NOT_TESTABLE;
    if (judged)
        write_numbers(out, claim, index);
    if (claim->reason[0]) {
        fputs(judged ? "; " : "", out);
        markup_write_text(out, m, claim->reason);
    }
    fputs(m->between, out);
    markup_write_text(out, m, claim->command != NULL ? claim->command : "-");
    fputs(m->end, out);
}

void claims_write_markdown(FILE *out, const struct claims *c)
{
    fputs("# Claims of the reports\n\n"
          "`make claims` writes this page from [claims.yaml](claims.yaml) and the linked tables. "
          "[claims.csv](claims.csv) has the same as CSV.\n\n",
          out);
    claims_write_counts(out, c, NULL);
    fputs(".\n", out);
    for (size_t i = 0; i < c->n; i++) {
        const struct claim *claim = &c->claims[i];
        if (begins_report(c, i)) {
            fprintf(out, "\n## %.*s\n\n", report_length(claim), claim->id);
            claims_write_counts(out, c, claim);
            fputs(".\n\n| verdict | claim | kind | place | says | holds if | numbers or reason | "
                  "measured by |\n|---|---|---|---|---|---|---|---|\n",
                  out);
        }
        write_line(out, claim, i);
    }
}
