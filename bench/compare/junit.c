#include "bench/compare/junit.h"

#include <stdbool.h>
#include <stdlib.h>

#include "kernels/base/terminal.h"
#include "kernels/base/text.h"

/* Writes an attribute. Control characters and invalid UTF-8 become text such as \x1b, since XML 1.0
 * does not allow most control characters. */
static void write_attribute(FILE *out, const char *name, const char *text)
{
    char clean[4096];
    fprintf(out, " %s=\"", name);
    text_write_markup(out, terminal_clean(clean, sizeof clean, text));
    fputc('"', out);
}

static void write_counts(FILE *out, const struct junit *junit, size_t first, size_t end)
{
    size_t results[JUNIT_SKIPPED + 1] = {0};
    for (size_t suite = first; suite < end; suite++)
        for (size_t i = 0; i < junit->tests; i++) {
            struct junit_test test;
            junit->fill(&test, junit->arg, suite, i);
            free(test.message);
            results[test.result]++;
        }
    fprintf(out, " tests=\"%zu\" failures=\"%zu\" errors=\"0\" skipped=\"%zu\">\n",
            (end - first) * junit->tests, results[JUNIT_FAILED], results[JUNIT_SKIPPED]);
}

static void write_test(FILE *out, const struct junit_test *test)
{
    bool failed = test->result == JUNIT_FAILED;
    fputs("    <testcase", out);
    write_attribute(out, "classname", test->suite);
    write_attribute(out, "name", test->name);
    if (test->result == JUNIT_PASSED) {
        fputs("/>\n", out);
        return;
    }
    fprintf(out, ">\n      <%s", failed ? "failure" : "skipped");
    if (failed)
        write_attribute(out, "type", test->type);
    write_attribute(out, "message", test->message != NULL ? test->message : "no memory");
    fputs("/>\n    </testcase>\n", out);
}

static void write_suite(FILE *out, const struct junit *junit, size_t suite)
{
    for (size_t i = 0; i < junit->tests; i++) {
        struct junit_test test;
        junit->fill(&test, junit->arg, suite, i);
        if (i == 0) {
            fputs("  <testsuite", out);
            write_attribute(out, "name", test.suite);
            write_counts(out, junit, suite, suite + 1);
        }
        write_test(out, &test);
        free(test.message);
    }
    fputs("  </testsuite>\n", out);
}

void junit_write(FILE *out, const struct junit *junit)
{
    fputs("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites", out);
    write_counts(out, junit, 0, junit->suites);
    for (size_t suite = 0; suite < junit->suites; suite++)
        write_suite(out, junit, suite);
    fputs("</testsuites>\n", out);
}
