/* Where a campaign is, for people, on standard error: one rewritten line on a terminal,
 * a line an item elsewhere. */
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
    char what[256];      /* "ranks=2 allreduce  launch 3" */
    double left_s;       /* when the item began; NAN: unknown */
    bool at_most;        /* total and left_s are the most it may be */
    int64_t launched_ns; /* when that was */
    int64_t shown_ns;    /* when a terminal's line was written last */
};

void progress_begin(struct progress *p, FILE *out);
/* An item begins, a launch say: number `number` of `total`, `what` in words. */
void progress_next(struct progress *p, size_t number, size_t total, const char *what, double left_s,
                   bool at_most);
/* Time has passed: brings a terminal's line up to date. */
void progress_tick(struct progress *p);
/* Makes room for other messages. */
void progress_clear(struct progress *p);
