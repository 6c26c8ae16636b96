#include "bench/runner/progress.h"

#include <math.h>
#include <unistd.h>

#include "bench/runner/duration.h"
#include "kernels/base/clock.h"

void progress_begin(struct progress *p, FILE *out)
{
    *p = (struct progress){.out = out, .begin_ns = clock_ns()};
    p->terminal = isatty(fileno(out));
}

static void print_line(const struct progress *p)
{
    char since[32], left[32];
    int64_t now = clock_ns();
    duration_text(since, (double)(now - p->begin_ns) * 1e-9);
    fprintf(p->out, "[%zu/%zu] %s  %s", p->number, p->total, p->what, since);
    double left_s = p->left_s - (double)(now - p->launched_ns) * 1e-9;
    if (left_s > 0)
        fprintf(p->out, ", about %s left", duration_text(left, left_s));
}

void progress_launch(struct progress *p, size_t number, size_t total, const char *what,
                     double left_s)
{
    p->number = number;
    p->total = total;
    p->left_s = left_s;
    p->launched_ns = clock_ns();
    snprintf(p->what, sizeof p->what, "%s", what);
    if (p->terminal) {
        progress_tick(p);
        return;
    }
    print_line(p);
    fputc('\n', p->out);
}

void progress_tick(struct progress *p)
{
    if (!p->terminal)
        return;
    fputs("\r\033[K", p->out);
    print_line(p);
    fflush(p->out);
}

void progress_clear(struct progress *p)
{
    if (p->terminal)
        fputs("\r\033[K", p->out);
}
