/* JUnit's XML, as build servers read it: suites of tests, each passed, failed or skipped. Texts may hold anything.
 * Internal to bench/compare. */
#pragma once

#include <stdio.h>

enum junit_result { JUNIT_PASSED, JUNIT_FAILED, JUNIT_SKIPPED };

struct junit_test {
    char suite[4096];
    const char *name, *type; /* type of a failure: "slower" */
    char *message;           /* a sentence, freed by the writer; NULL: there was no memory */
    enum junit_result result;
};

/* Suites with as many tests each, one at least. */
struct junit {
    size_t suites, tests;
    void (*tell)(struct junit_test *test, const void *arg, size_t suite, size_t i);
    const void *arg;
};

void junit_write(FILE *out, const struct junit *junit);
