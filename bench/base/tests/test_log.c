/* Tests of log levels. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "bench/base/log.h"

/* Captures the output of log_print to standard error for $SCALEBENCH_LOG = `level`. */
static void capture_log(const char *level, char *text, size_t size)
{
    FILE *file = tmpfile();
    int saved = dup(STDERR_FILENO);
    assert_non_null(file);
    if (level != NULL)
        setenv("SCALEBENCH_LOG", level, 1);
    else
        unsetenv("SCALEBENCH_LOG");
    dup2(fileno(file), STDERR_FILENO);
    log_print(LOG_ERROR, "%d", 1);
    log_print(LOG_WARNING, "%d", 2);
    log_print(LOG_NOTE, "%d", 3);
    log_print(LOG_DETAIL, "%d", 4);
    dup2(saved, STDERR_FILENO);
    close(saved);
    rewind(file);
    size_t n = fread(text, 1, size - 1, file);
    text[n] = '\0';
    fclose(file);
}

static void messages_are_filtered_by_level(void **state)
{
    char text[1000], expected[1000];
    const char *me = program_invocation_short_name;
    capture_log("warning", text, sizeof text);
    snprintf(expected, sizeof expected, "%s: error: 1\n%s: warning: 2\n", me, me);
    assert_string_equal(text, expected);
    capture_log("detail", text, sizeof text);
    snprintf(expected, sizeof expected,
             "%s: error: 1\n%s: warning: 2\n%s: note: 3\n%s: detail: 4\n", me, me, me, me);
    assert_string_equal(text, expected);
    char preset[1000];
    capture_log(NULL, preset, sizeof preset);
    capture_log("note", text, sizeof text);
    assert_string_equal(text, preset);
    assert_non_null(strstr(text, "note: 3"));
    assert_null(strstr(text, "detail: 4"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(messages_are_filtered_by_level),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
