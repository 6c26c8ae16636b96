/* Progress of a campaign on standard error: one rewritten line on a terminal, one line per launch
 * elsewhere. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct progress {
    FILE *out;
    bool terminal;
    int64_t begin_ns;
    size_t number, total;
    char what[256]; /* current launch in words: "ranks=2 allreduce launch 3" */
    double left_s;  /* remaining time (s), forecast when the current launch began; NAN: unknown */
    bool at_most;   /* whether `total` and left_s are upper bounds */
    int64_t launched_ns; /* time at which the current launch began */
    int64_t shown_ns;    /* time of the last write to a terminal; 0: none */
};

/* Starts the clock of a progress display on `out`, which the caller keeps open. */
void progress_begin(struct progress *p, FILE *out);
/* Shows the beginning of launch `number` of `total`. Copies `what`. For left_s and `at_most`, see
 * struct progress. */
void progress_next(struct progress *p, size_t number, size_t total, const char *what, double left_s,
                   bool at_most);
/* Updates the line on a terminal, at most ten times a second. */
void progress_tick(struct progress *p);
/* Erases the line on a terminal, to make room for other messages. */
void progress_clear(struct progress *p);
