/* JUnit's XML, as build servers read it: suites of tests, each passed, failed or skipped. Texts may hold anything.
 * Internal to bench/compare. */
#pragma once

#include <stdio.h>

enum junit_result { JUNIT_PASSED, JUNIT_FAILED, JUNIT_SKIPPED };

struct junit_test {
    const char *name, *type; /* type of a failure: "slower" */
    char *message;           /* a sentence, freed by the writer; NULL: there was no memory */
    enum junit_result result;
};

struct junit_suite {
    const char *name;
    size_t n; /* tests */
    void (*tell)(struct junit_test *test, const struct junit_suite *suite, size_t i);
    const void *arg;
    size_t index;
};

void junit_write(FILE *out, const struct junit_suite *suites, size_t n);
