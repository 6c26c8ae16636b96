#include "bench/compare/junit.h"

#include <stdbool.h>
#include <stdlib.h>

#include "kernels/base/terminal.h"

/* XML 1.0 has no way to write control characters: they become \x1b, as bytes that are no UTF-8
 * do. */
static void write_text(FILE *out, const char *text)
{
    char clean[4096];
    for (const char *c = terminal_clean(clean, sizeof clean, text); *c; c++)
        switch (*c) {
        case '&':
            fputs("&amp;", out);
            break;
        case '<':
            fputs("&lt;", out);
            break;
        case '>':
            fputs("&gt;", out);
            break;
        case '"':
            fputs("&quot;", out);
            break;
        default:
            fputc(*c, out);
        }
}

static void write_attribute(FILE *out, const char *name, const char *text)
{
    fprintf(out, " %s=\"", name);
    write_text(out, text);
    fputc('"', out);
}

static void write_counts(FILE *out, const struct junit_suite *suites, size_t n)
{
    size_t tests = 0, results[JUNIT_SKIPPED + 1] = {0};
    for (size_t k = 0; k < n; k++)
        for (size_t i = 0; i < suites[k].n; i++) {
            struct junit_test test;
            suites[k].tell(&test, &suites[k], i);
            free(test.message);
            results[test.result]++;
            tests++;
        }
    fprintf(out, " tests=\"%zu\" failures=\"%zu\" errors=\"0\" skipped=\"%zu\">\n", tests,
            results[JUNIT_FAILED], results[JUNIT_SKIPPED]);
}

static void write_test(FILE *out, const char *suite, const struct junit_test *test)
{
    bool failed = test->result == JUNIT_FAILED;
    fputs("    <testcase", out);
    write_attribute(out, "classname", suite);
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

static void write_suite(FILE *out, const struct junit_suite *suite)
{
    fputs("  <testsuite", out);
    write_attribute(out, "name", suite->name);
    write_counts(out, suite, 1);
    for (size_t i = 0; i < suite->n; i++) {
        struct junit_test test;
        suite->tell(&test, suite, i);
        write_test(out, suite->name, &test);
        free(test.message);
    }
    fputs("  </testsuite>\n", out);
}

void junit_write(FILE *out, const struct junit_suite *suites, size_t n)
{
    fputs("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites", out);
    write_counts(out, suites, n);
    for (size_t i = 0; i < n; i++)
        write_suite(out, &suites[i]);
    fputs("</testsuites>\n", out);
}
