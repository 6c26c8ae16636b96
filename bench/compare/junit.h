/* Writer of JUnit XML, the test report format of build servers. Texts may contain any bytes.
 * Internal to bench/compare. */
#pragma once

#include <stdio.h>

enum junit_result { JUNIT_PASSED, JUNIT_FAILED, JUNIT_SKIPPED };

struct junit_test {
    char suite[4096];
    const char *name, *type; /* `type`: kind of failure, such as "slower" */
    char *message; /* sentence about the result, freed by junit_write; NULL: memory ran out */
    enum junit_result result;
};

/* `suites`: number of test suites, at least 1. `tests`: number of tests per suite, at least 1.
 * `fill` sets *test to test i of a suite. */
struct junit {
    size_t suites, tests;
    void (*fill)(struct junit_test *test, const void *arg, size_t suite, size_t i);
    const void *arg;
};

void junit_write(FILE *out, const struct junit *junit);
