#include "bench/base/progress.h"

#include <unistd.h>

#include "kernels/base/clock.h"
#include "kernels/base/terminal.h"
#include "kernels/base/text.h"

void progress_begin(struct progress *p, FILE *out)
{
    *p = (struct progress){.out = out, .begin_ns = clock_ns()};
    p->terminal = isatty(fileno(out));
}

/* Prints the progress line, without newline. On a terminal, the line is cut to the terminal's
 * width, so that the next progress line can overwrite the whole line. */
static void print_line(const struct progress *p)
{
    char since[TEXT_NUMBER], left[TEXT_NUMBER], what[4 * sizeof p->what], begin[64],
        end[2 * TEXT_NUMBER + 32];
    int64_t now = clock_ns();
    double left_s = p->left_s - (double)(now - p->launched_ns) * 1e-9;
    snprintf(begin, sizeof begin, "[%zu/%zu] ", p->number, p->total);
    snprintf(end, sizeof end, "  %s%s%s%s",
             text_duration(since, (double)(now - p->begin_ns) * 1e-9),
             !(left_s > 0) ? ""
             : p->at_most  ? ", up to "
                           : ", about ",
             left_s > 0 ? text_duration(left, left_s) : "", left_s > 0 ? " left" : "");
    terminal_clean(what, sizeof what, p->what);
    int width = p->terminal ? terminal_width(p->out) : 0;
    int room = width - 1 - terminal_columns(begin) - terminal_columns(end);
    if (width > 0 && room < 2)
        fprintf(p->out, "%.*s", (int)terminal_fit(begin, width - 1), begin);
    else if (width > 0 && terminal_columns(what) > room)
        fprintf(p->out, "%s%.*s..%s", begin, (int)terminal_fit(what, room - 2), what, end);
    else
        fprintf(p->out, "%s%s%s", begin, what, end);
}

void progress_next(struct progress *p, size_t number, size_t total, const char *what, double left_s,
                   bool at_most)
{
    p->number = number;
    p->total = total;
    p->left_s = left_s;
    p->at_most = at_most;
    p->launched_ns = clock_ns();
    snprintf(p->what, sizeof p->what, "%s", what);
    p->shown_ns = 0;
    if (p->terminal) {
        progress_tick(p);
        return;
    }
    print_line(p);
    fputc('\n', p->out);
}

void progress_tick(struct progress *p)
{
    enum { OFTEN_NS = 100000000 }; /* nobody reads faster than ten updates a second */
    if (!p->terminal || clock_ns() - p->shown_ns < OFTEN_NS)
        return;
    p->shown_ns = clock_ns();
    fputs("\r\033[K", p->out);
    print_line(p);
    fflush(p->out);
}

void progress_clear(struct progress *p)
{
    if (p->terminal)
        fputs("\r\033[K", p->out);
}
