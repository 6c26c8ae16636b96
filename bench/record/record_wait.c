/* Who waited for whom in a step. */
#include <math.h>
#include <string.h>

#include "bench/record/records.h"

const struct record_step *records_step(const struct rank_record *r, bool timed, size_t k)
{
    const struct list *steps = timed ? &r->steps : &r->warmup;
    return (const struct record_step *)steps->items + k;
}

bool records_share_clock(const struct rank_record *records, int ranks)
{
    for (int i = 1; i < ranks; i++)
        if (strcmp(records[i].hello.host, records[0].hello.host) != 0)
            return false;
    return true;
}

int records_last_to_arrive(const struct rank_record *records, int ranks, bool timed, size_t k)
{
    int last = 0;
    if (!records_share_clock(records, ranks))
        return -1;
    for (int i = 0; i < ranks; i++) {
        int64_t arrive_ns = records_step(&records[i], timed, k)->arrive_ns;
        if (arrive_ns == 0)
            return -1;
        if (arrive_ns > records_step(&records[last], timed, k)->arrive_ns)
            last = i;
    }
    return last;
}

/* Until the last arrived, but no longer than communication stood in the way. Without arrivals it is
 * 0 if nothing was communicated, else unknown. */
double records_wait_ns(const struct rank_record *records, bool timed, size_t k, int rank, int last)
{
    const struct record_step *step = records_step(&records[rank], timed, k);
    double exposed = (double)step->comm_exposed_ns;
    if (last < 0)
        return exposed > 0 ? NAN : 0;
    double wait = (double)(records_step(&records[last], timed, k)->arrive_ns - step->arrive_ns);
    return wait < exposed ? wait : exposed;
}
