/* Writes a comparison as JUnit XML: one suite per run that is compared with the reference, one test
 * per point of the reference. */

#include "bench/compare/format.h"
#include "bench/compare/junit.h"
#include "kernels/base/text.h"

struct report {
    const struct comparison *c;
    bool strict;
};

static enum junit_result result_of(const struct report *report, size_t i, size_t side)
{
    enum verdict verdict = compare_cell(report->c, i, side)->judged.verdict;
    bool doubtful = verdict == VERDICT_UNDECIDED || compare_is_lost(report->c, i, side);
    if (verdict == VERDICT_BAD || compare_is_failed(report->c, i, side) ||
        (doubtful && report->strict))
        return JUNIT_FAILED;
    return verdict == VERDICT_GOOD || verdict == VERDICT_SAME ? JUNIT_PASSED : JUNIT_SKIPPED;
}

static void fill_test(struct junit_test *test, const void *arg, size_t suite, size_t i)
{
    const struct report *report = arg;
    const struct comparison *c = report->c;
    const struct compare_cell *cell = compare_cell(c, i, suite + 1);
    const struct judged *j = &cell->judged;
    const char *run = c->sides[suite + 1].name, *what = c->rules.what->name;
    char ratio[TEXT_INTERVAL];
    bool failed = compare_is_failed(c, i, suite + 1);
    *test = (struct junit_test){.name = compare_label(&c->sides[0].points[i]),
                                .type = failed ? cell->point->status
                                               : verdict_name(j->verdict, c->rules.what),
                                .result = result_of(report, i, suite + 1)};
    snprintf(test->suite, sizeof test->suite, "%s of %s against %s", what, run, c->sides[0].name);
    int length = cell->point == NULL ? asprintf(&test->message, "%s does not have this point", run)
                 : failed ? asprintf(&test->message, "%s has no value of %s: status %s", run, what,
                                     test->type)
                 : j->verdict == VERDICT_NONE
                     ? asprintf(&test->message, "%s", j->reason)
                     : asprintf(&test->message, "%s is %s: %s times %s%s%s", what, test->type,
                                format_ratio(ratio, j), c->sides[0].name, j->reason[0] ? "; " : "",
                                j->reason);
    if (length < 0)
        test->message = NULL;
}

enum status format_junit(FILE *out, const struct comparison *c,
                         const struct format_options *options, struct error *e)
{
    const struct report report = {c, options->strict};
    format_warn(c);
    junit_write(out, &(struct junit){c->n_sides - 1, c->sides[0].n, fill_test, &report});
    return OK;
}
