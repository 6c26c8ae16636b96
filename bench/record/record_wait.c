/* Finds, for one step, the rank that arrived last at its wait (arrive_ns), and how long the other
 * ranks waited. All times are on rank 0's clock. */
#include <math.h>

#include "bench/record/records.h"

const struct record_step *records_step(const struct rank_record *r, bool timed, size_t k)
{
    const struct list *steps = timed ? &r->steps : &r->warmup;
    return (const struct record_step *)steps->items + k;
}

int64_t records_on_first_clock_ns(const struct rank_record *r, int64_t t_ns)
{
    double offset_ns = clock_line_offset_ns(&r->clock.line, t_ns);
    bool is_sane = t_ns < INT64_MAX / 4 && fabs(offset_ns) < (double)(INT64_MAX / 4);
    return is_sane ? t_ns - llround(offset_ns) : 0;
}

static int64_t arrival_ns(const struct arrivals *a, int rank)
{
    const struct rank_record *r = &a->records[rank];
    return records_on_first_clock_ns(r, records_step(r, a->timed, a->k)->arrive_ns);
}

struct arrivals records_arrivals(const struct rank_record *records, int ranks, bool timed, size_t k)
{
    struct arrivals a = {.records = records,
                         .ranks = ranks,
                         .timed = timed,
                         .k = k,
                         .first_ns = INT64_MAX,
                         .last_ns = INT64_MIN,
                         .surely_ns = -INFINITY};
    for (int i = 0; i < ranks; i++) {
        if (records[i].clock.of < 0 || records_step(&records[i], timed, k)->arrive_ns == 0)
            return a;
        int64_t at_ns = arrival_ns(&a, i);
        a.first_ns = at_ns < a.first_ns ? at_ns : a.first_ns;
        a.last_ns = at_ns > a.last_ns ? at_ns : a.last_ns;
    }
    a.known = true;
    for (int i = 0; i < ranks; i++)
        a.surely_ns =
            fmax(a.surely_ns, (double)(arrival_ns(&a, i) - a.last_ns) - records[i].clock.error_ns);
    return a;
}

bool arrivals_may_be_last(const struct arrivals *a, int rank)
{
    if (!a->known)
        return false;
    const struct record_clock *own = &a->records[rank].clock;
    int64_t at_ns = arrival_ns(a, rank);
    if ((double)(at_ns - a->last_ns) + own->error_ns < a->surely_ns)
        return false;
    for (int i = 0; i < a->ranks; i++)
        if (a->records[i].clock.of == own->of && arrival_ns(a, i) > at_ns)
            return false;
    return true;
}

double arrivals_wait_ns(const struct arrivals *a, int rank)
{
    const struct record_step *step = records_step(&a->records[rank], a->timed, a->k);
    double exposed = (double)step->comm_exposed_ns;
    if (!a->known)
        return exposed > 0 ? NAN : 0;
    double wait = (double)(a->last_ns - arrival_ns(a, rank));
    return wait < exposed ? wait : exposed;
}
