/* A comparison as JUnit's XML: a suite a run, a test a point. */
#include <stdlib.h>

#include "bench/compare/format.h"
#include "bench/compare/junit.h"
#include "kernels/base/mem.h"
#include "kernels/base/text.h"

struct told {
    const struct comparison *c;
    bool strict;
};

static enum junit_result result_of(const struct told *told, size_t i, size_t side)
{
    enum verdict verdict = compare_cell(told->c, i, side)->judged.verdict;
    bool doubtful = verdict == VERDICT_UNDECIDED || compare_is_lost(told->c, i, side);
    if (verdict == VERDICT_BAD || compare_is_failed(told->c, i, side) || (doubtful && told->strict))
        return JUNIT_FAILED;
    return verdict == VERDICT_GOOD || verdict == VERDICT_SAME ? JUNIT_PASSED : JUNIT_SKIPPED;
}

static void tell(struct junit_test *test, const struct junit_suite *suite, size_t i)
{
    const struct told *told = suite->arg;
    const struct comparison *c = told->c;
    const struct compare_cell *cell = compare_cell(c, i, suite->index);
    const struct judged *j = &cell->judged;
    const char *run = c->sides[suite->index].name;
    char ratio[TEXT_INTERVAL];
    bool failed = compare_is_failed(c, i, suite->index);
    *test = (struct junit_test){.name = compare_label(&c->sides[0].points[i]),
                                .type = failed ? cell->point->status
                                               : verdict_name(j->verdict, c->what),
                                .result = result_of(told, i, suite->index)};
    int length = cell->point == NULL ? asprintf(&test->message, "%s does not have this point", run)
                 : failed ? asprintf(&test->message, "%s has no value of %s: status %s", run,
                                     c->what->name, test->type)
                 : j->verdict == VERDICT_NONE
                     ? asprintf(&test->message, "%s", j->reason)
                     : asprintf(&test->message, "%s is %s: %s times %s%s%s", c->what->name,
                                test->type, format_ratio(ratio, j), c->sides[0].name,
                                j->reason[0] ? "; " : "", j->reason);
    if (length < 0)
        test->message = NULL;
}

enum status format_junit(FILE *out, const struct comparison *c,
                         const struct format_options *options, struct error *e)
{
    struct junit_suite *suites;
    char(*names)[1024];
    const struct told told = {c, options->strict};
    TRY(MEM_NEW(suites, c->n_sides, "suites of tests", e));
    enum status status = MEM_NEW(names, c->n_sides, "suites of tests", e);
    for (size_t side = 1; side < c->n_sides && status == OK; side++) {
        snprintf(names[side], sizeof names[side], "%s of %s against %s", c->what->name,
                 c->sides[side].name, c->sides[0].name);
        suites[side] = (struct junit_suite){names[side], c->sides[0].n, tell, &told, side};
    }
    if (status == OK)
        junit_write(out, suites + 1, c->n_sides - 1);
    free(names);
    free(suites);
    return status;
}
