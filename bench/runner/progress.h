/* Where a campaign is, for people, on standard error: one rewritten line on a terminal, a line a
 * launch elsewhere. */
#ifndef SCALEBENCH_RUNNER_PROGRESS_H
#define SCALEBENCH_RUNNER_PROGRESS_H

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
    double left_s;       /* when the launch began; NAN: unknown */
    bool at_most;        /* total and left_s are the most it may be */
    int64_t launched_ns; /* when that was */
};

void progress_begin(struct progress *p, FILE *out);
/* A launch begins: number `number` of `total`, `what` in words. */
void progress_launch(struct progress *p, size_t number, size_t total, const char *what,
                     double left_s, bool at_most);
/* Time has passed: brings a terminal's line up to date. */
void progress_tick(struct progress *p);
/* Makes room for other messages. */
void progress_clear(struct progress *p);

#endif
