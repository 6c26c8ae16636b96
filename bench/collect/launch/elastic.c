/* Reads an elastic accuracy run, whose number of ranks changes between segments. Only the last
 * segment's ranks leave records; the records include earlier epochs. */
#include <math.h>
#include <stdio.h>

#include "bench/collect/collect.h"
#include "bench/collect/lists.h"
#include "bench/record/segments.h"

/* Lists the number of ranks of each segment, such as "1|2|1". If a segment was restarted after
 * ranks died, lists the ranks of its last start. */
static void list_ranks(char *text, size_t size, const struct segments *s)
{
    char number[16];
    for (size_t i = 0; i < s->n; i++) {
        snprintf(number, sizeof number, "%d", s->attempts[i].ranks);
        if (i + 1 == s->n || s->attempts[i + 1].segment != s->attempts[i].segment)
            list_add(text, size, "|", number);
    }
}

static void take_segments(struct launch_result *result, const struct segments *s)
{
    struct segments_total total;
    segments_sum(&total, s);
    list_ranks(result->segment_ranks, sizeof result->segment_ranks, s);
    result->restarts = (double)total.restarts;
    result->lost_steps = total.lost_steps;
    result->change_s = total.change_s;
    result->recovery_s = total.recovery_s;
    result->earlier_s = total.earlier_s;
    if (s->n > 1) /* the records of earlier attempts are not read, so the total processor times are
                     unknown */
        result->total_user_s = result->total_sys_s = NAN;
}

enum status launch_take_elastic(const char *dir, int ranks, struct launch_result *result,
                                struct error *e)
{
    char path[4096];
    struct segments s;
    TRY(segments_path(path, sizeof path, dir, e));
    TRY(segments_read(&s, path, e));
    if (s.n > 0)
        ranks = s.attempts[s.n - 1].ranks;
    enum status status = launch_read(dir, ranks, result, e);
    if (status == OK && s.n > 0)
        take_segments(result, &s);
    segments_free(&s);
    return status;
}

double launch_wall_s(const struct journal_launch *launch, const struct launch_result *result)
{
    return launch->status != LAUNCH_RUNNING ? launch->wall_s + result->earlier_s : NAN;
}
