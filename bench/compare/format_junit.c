/* A comparison as JUnit's XML: a suite a run, a test a point. */
#include "bench/compare/format.h"
#include "bench/compare/junit.h"
#include "kernels/base/text.h"

static enum junit_result result_of(const struct comparison *c, size_t i, size_t side,
                                   const struct format_options *options)
{
    enum verdict verdict = compare_cell(c, i, side)->judged.verdict;
    bool doubtful = verdict == VERDICT_UNDECIDED || compare_is_lost(c, i, side);
    if (verdict == VERDICT_BAD || compare_is_failed(c, i, side) || (doubtful && options->strict))
        return JUNIT_FAILED;
    return verdict == VERDICT_GOOD || verdict == VERDICT_SAME ? JUNIT_PASSED : JUNIT_SKIPPED;
}

static void count_suite(struct junit_counts *counts, const struct comparison *c, size_t side,
                        const struct format_options *options)
{
    for (size_t i = 0; i < c->sides[0].n; i++)
        junit_count(counts, result_of(c, i, side, options));
}

static void write_test(FILE *out, const char *suite, const struct comparison *c, size_t i,
                       size_t side, const struct format_options *options)
{
    char message[1024], ratio[TEXT_INTERVAL];
    const struct compare_cell *cell = compare_cell(c, i, side);
    const struct judged *j = &cell->judged;
    bool failed = compare_is_failed(c, i, side);
    const char *verdict = failed ? cell->point->status : verdict_name(j->verdict, c->what);
    if (cell->point == NULL)
        snprintf(message, sizeof message, "%s does not have this point", c->sides[side].name);
    else if (failed)
        snprintf(message, sizeof message, "%s has no value of %s: status %s", c->sides[side].name,
                 c->what->name, verdict);
    else if (j->verdict == VERDICT_NONE)
        snprintf(message, sizeof message, "%s", j->reason);
    else
        snprintf(message, sizeof message, "%s is %s: %s times %s%s%s", c->what->name, verdict,
                 format_ratio(ratio, j), c->sides[0].name, j->reason[0] ? "; " : "", j->reason);
    junit_write_test(out, suite, compare_label(&c->sides[0].points[i]),
                     result_of(c, i, side, options), verdict, message);
}

static void write_suite(FILE *out, const struct comparison *c, size_t side,
                        const struct format_options *options)
{
    char name[1024];
    struct junit_counts counts = {0};
    count_suite(&counts, c, side, options);
    snprintf(name, sizeof name, "%s of %s against %s", c->what->name, c->sides[side].name,
             c->sides[0].name);
    junit_begin_suite(out, name, &counts);
    for (size_t i = 0; i < c->sides[0].n; i++)
        write_test(out, name, c, i, side, options);
    junit_end_suite(out);
}

enum status format_junit(FILE *out, const struct comparison *c,
                         const struct format_options *options, struct error *e)
{
    struct junit_counts all = {0};
    for (size_t side = 1; side < c->n_sides; side++)
        count_suite(&all, c, side, options);
    junit_begin(out, &all);
    for (size_t side = 1; side < c->n_sides; side++)
        write_suite(out, c, side, options);
    junit_end(out);
    return OK;
}
