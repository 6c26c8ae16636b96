/* JUnit's XML, as build servers read it: a suite of tests, each passed, failed or skipped. Texts may
 * hold anything. Internal to bench/compare. */
#pragma once

#include <stdio.h>

enum junit_result { JUNIT_PASSED, JUNIT_FAILED, JUNIT_SKIPPED };

struct junit_counts {
    size_t tests, failures, skipped;
};

void junit_count(struct junit_counts *counts, enum junit_result result);

void junit_begin(FILE *out, const struct junit_counts *all);
void junit_begin_suite(FILE *out, const char *name, const struct junit_counts *counts);
/* `type` of a failure: "slower"; `message` is a sentence. */
void junit_write_test(FILE *out, const char *suite, const char *name, enum junit_result result,
                      const char *type, const char *message);
void junit_end_suite(FILE *out);
void junit_end(FILE *out);
