/* Compares the exact columns of two runs, point by point: quantities that depend on neither machine
 * nor time, such as bytes, messages and FLOPs (rows EXACT of bench/collect/columns/summary.def).
 * Points are matched as by compare_run.
 *
 * Numbers are equal if they differ by at most 1e-9 of their size, since CSV files have ten digits.
 * A column is left out at points where launches of the reference differ, as with messages of
 * asynchronous strategies. */
#pragma once

#include <stdio.h>

#include "bench/collect/columns.h"
#include "bench/compare/comparison.h"

enum exact_outcome {
    EXACT_ABSENT,  /* the reference has no value */
    EXACT_LOST,    /* only the reference has a value */
    EXACT_VARIES,  /* launches of the reference differ */
    EXACT_EQUAL,   /* both sides have the same value */
    EXACT_DIFFERS, /* values of run and reference differ, or launches of the run differ among
                      themselves */
    EXACT_OUTCOMES
};

struct exact_request {
    const char *run, *reference; /* both operands as the user typed them */
    const char *out, *home;
};

struct exact {
    struct comparison c; /* the reference and the run with their matched points; no verdicts */
    const enum column_id *columns; /* [n_columns] columns to compare */
    size_t n_columns;
    enum exact_outcome *outcomes; /* [points of the reference, n_columns] outcome per value */
    size_t counts[EXACT_OUTCOMES];
    size_t failed; /* number of points that failed in the run, but not in the reference */
};

/* Compares the run with the reference. ERR_ARGUMENT if an operand is not a run, both are the same
 * run, or no value can be compared. A value of an exact column can be compared if both runs have it
 * and it is equal in all launches of the reference. Call exact_free in any case. */
enum status exact_run(struct exact *x, const struct exact_request *request, struct error *e);
void exact_free(struct exact *x);

/* Returns whether no value differs, and every point that failed in the run also failed in the
 * reference. `strict`: the run must also have each value of the reference. */
bool exact_agrees(const struct exact *x, bool strict);

typedef void exact_writer(FILE *out, const struct exact *x, bool strict);
/* Print differences and missing points as text, or one test per point of the reference as JUnit
 * XML. */
exact_writer exact_write_text, exact_write_junit;
