#include "bench/compare/junit.h"

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

static void write_counts(FILE *out, const struct junit_counts *counts)
{
    fprintf(out, " tests=\"%zu\" failures=\"%zu\" errors=\"0\" skipped=\"%zu\">\n", counts->tests,
            counts->failures, counts->skipped);
}

void junit_count(struct junit_counts *counts, enum junit_result result)
{
    counts->tests++;
    counts->failures += result == JUNIT_FAILED;
    counts->skipped += result == JUNIT_SKIPPED;
}

void junit_begin(FILE *out, const struct junit_counts *all)
{
    fputs("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites", out);
    write_counts(out, all);
}

void junit_begin_suite(FILE *out, const char *name, const struct junit_counts *counts)
{
    fputs("  <testsuite", out);
    write_attribute(out, "name", name);
    write_counts(out, counts);
}

void junit_write_test(FILE *out, const char *suite, const char *name, enum junit_result result,
                      const char *type, const char *message)
{
    fputs("    <testcase", out);
    write_attribute(out, "classname", suite);
    write_attribute(out, "name", name);
    if (result == JUNIT_PASSED) {
        fputs("/>\n", out);
        return;
    }
    fprintf(out, ">\n      <%s", result == JUNIT_FAILED ? "failure" : "skipped");
    if (result == JUNIT_FAILED)
        write_attribute(out, "type", type);
    write_attribute(out, "message", message);
    fputs("/>\n    </testcase>\n", out);
}

void junit_end_suite(FILE *out)
{
    fputs("  </testsuite>\n", out);
}

void junit_end(FILE *out)
{
    fputs("</testsuites>\n", out);
}
