/* Prints the outcomes of checks as text or as JUnit XML. */
#include <math.h>
#include <string.h>

#include "bench/compare/format.h"
#include "bench/compare/junit.h"
#include "bench/spec/value.h"
#include "kernels/base/mem.h"
#include "kernels/base/terminal.h"
#include "kernels/base/text.h"

static const char *const outcome_names[] = {"holds", "undecided", "violated"};

/* Writes why a value is unknown: the point's status and reason, such as " (failed: exit status 3)".
 * If the status is ok, writes "empty at this point" or "not measured here" instead of the
 * status. */
static void write_status(FILE *out, const char *name, const struct check_point *point)
{
    char clean[512];
    struct condition_value reason = {.number = NAN};
    check_look_up(&reason, "reason", point);
    const char *status = point->c->run.points[point->point].status;
    bool is_ok = strcmp(status, point_status_names()[POINT_ok]) == 0;
    const struct column *column = check_column(name);
    if (is_ok && column != NULL)
        fprintf(out, " (empty at this point; `explain %s` states when", column->name);
    else
        fprintf(out, " (%s", is_ok ? "not measured here" : status);
    if (reason.text != NULL && reason.text[0])
        fprintf(out, ": %s", terminal_clean(clean, sizeof clean, reason.text));
    fputc(')', out);
}

/* Writes a name with its value and interval at a point: "speedup 1.71 [1.66, 1.75]". */
static void write_value(FILE *out, const char *name, const struct check_point *point)
{
    char text[TEXT_INTERVAL];
    struct condition_value value = {.number = NAN};
    double number;
    check_look_up(&value, name, point);
    const struct interval i = {.lo = value.spread ? value.lo : NAN,
                               .mid = value.number,
                               .hi = value.spread ? value.hi : NAN};
    bool has_text = value.text != NULL && value.text[0];
    if (isfinite(value.number) && (!has_text || number_parse(value.text, &number)))
        fprintf(out, "%s %s", name, text_interval(text, &i, 4));
    else
        fprintf(out, "%s %s", name, has_text ? value.text : "unknown");
    if (value.spread && isinf(value.lo))
        fputs(" (ranks share a core, so this is no scaling result. Give each rank a core, or use "
              "step_ms)",
              out);
    else if (isfinite(value.number) && !value.spread && check_is_single(point, name))
        fputs(" (measured once: no interval)", out);
    else if (!isfinite(value.number) && !has_text)
        write_status(out, name, point);
}

/* Writes a point and the values that the condition uses: "ranks=2 allreduce: speedup 1.71 [1.66,
 * 1.75]". */
static void write_point(FILE *out, const struct check *check, const struct check_point *point)
{
    size_t n;
    char label[256];
    const struct condition_term *terms = condition_terms(check->demand, &n);
    fprintf(
        out, "%s: ",
        terminal_clean(label, sizeof label, compare_label(&point->c->run.points[point->point])));
    for (size_t i = 0; i < n; i++) {
        fputs(i > 0 ? ", " : "", out);
        write_value(out, terms[i].name, point);
    }
}

/* ---- Text ---- */

static void write_check(FILE *out, const struct checking *c, const struct check *check)
{
    char points[TEXT_NUMBER], clean[1024];
    fprintf(out, "%-9s  %s  (%s)\n", outcome_names[check->outcome],
            terminal_clean(clean, sizeof clean, check->text),
            text_plural(points, (long)check->points, "point"));
    for (size_t i = 0; i < c->run.n; i++) {
        if (check->outcomes[i] == CHECK_HOLDS)
            continue;
        fprintf(out, "  %-9s  ", outcome_names[check->outcomes[i]]);
        write_point(out, check, &(struct check_point){c, i});
        fputc('\n', out);
    }
}

void check_write_text(FILE *out, const struct checking *c, bool strict)
{
    for (size_t i = 0; i < c->n; i++)
        write_check(out, c, &c->checks[i]);
    fprintf(out, "%s: %zu hold, %zu undecided, %zu violated.\n", c->run.name,
            c->outcomes[CHECK_HOLDS], c->outcomes[CHECK_UNDECIDED], c->outcomes[CHECK_VIOLATED]);
}

enum status checks_report(FILE *out, const struct spec *spec, const char *run_dir, bool strict,
                          bool *all_well, struct error *e)
{
    struct checking c;
    const struct value *texts = &spec->config.values[OPT_CHECKS];
    const struct check_request request = {.run = run_dir,
                                          .conditions = (const char *const *)texts->texts,
                                          .n_conditions = texts->n,
                                          .out = "",
                                          .home = ""};
    *all_well = true;
    if (texts->n == 0)
        return OK;
    enum status status = check_run(&c, &request, e);
    if (status == OK) {
        check_write_text(out, &c, strict);
        *all_well = c.outcomes[CHECK_VIOLATED] == 0 && !(strict && c.outcomes[CHECK_UNDECIDED] > 0);
    }
    check_free(&c);
    return status;
}

/* ---- JUnit XML ---- */

struct report {
    const struct checking *c;
    bool strict;
};

static enum junit_result result_of(const struct check *check, bool strict)
{
    return check->outcome == CHECK_HOLDS                ? JUNIT_PASSED
           : check->outcome == CHECK_VIOLATED || strict ? JUNIT_FAILED
                                                        : JUNIT_SKIPPED;
}

static void fill_test(struct junit_test *test, const void *arg, size_t suite, size_t index)
{
    const struct report *report = arg;
    const struct check *check = &report->c->checks[index];
    size_t size = 0, n = 0;
    *test = (struct junit_test){.name = check->text,
                                .type = outcome_names[check->outcome],
                                .result = result_of(check, report->strict)};
    snprintf(test->suite, sizeof test->suite, "%s", report->c->run.name);
    FILE *out = open_memstream(&test->message, &size);
    if (out == NULL)
        return;
    for (size_t i = 0; i < report->c->run.n; i++) {
        if (check->outcomes[i] == CHECK_HOLDS)
            continue;
        fprintf(out, "%s%s at ", n++ > 0 ? "; " : "", outcome_names[check->outcomes[i]]);
        write_point(out, check, &(struct check_point){report->c, i});
    }
    fclose(out);
}

void check_write_junit(FILE *out, const struct checking *c, bool strict)
{
    const struct report report = {c, strict};
    junit_write(out, &(struct junit){1, c->n, fill_test, &report});
}
