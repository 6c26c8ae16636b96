/* Finds each rank's clock, identified by the lowest rank that shares it, and the clock's offset
 * from rank 0's clock. */
#include <math.h>
#include <string.h>

#include "bench/record/records.h"

bool records_share_machine(const struct rank_record *a, const struct rank_record *b)
{
    const struct record_hello *x = &a->hello, *y = &b->hello;
    bool told = x->machine[0] != '\0' && y->machine[0] != '\0';
    return strcmp(told ? x->machine : x->host, told ? y->machine : y->host) == 0;
}

static bool shares_host(const struct rank_record *records, int rank)
{
    return strcmp(records[rank].hello.host, records[0].hello.host) == 0;
}

/* Returns the offset of a node's clock as a linear function of time, from the record of the node's
 * first rank. */
static struct clock_line line_of(const struct record_end *end)
{
    return (struct clock_line){
        {end->clock_begin_at_ns, end->clock_begin_offset_ns, end->clock_begin_error_ns},
        {end->clock_end_at_ns, end->clock_end_offset_ns, end->clock_end_error_ns}};
}

static bool is_known(const struct clock_offset *o)
{
    return isfinite(o->offset_ns) && isfinite(o->error_ns) && o->error_ns >= 0;
}

/* Finds the clock of a rank. A rank that reported no clock shares rank 0's clock if it ran on rank
 * 0's host; otherwise its clock is unknown. */
static struct record_clock clock_of(const struct rank_record *records, int ranks, int rank)
{
    double of = records[rank].end.clock_of;
    struct record_clock clock = {.of = isnan(of) && shares_host(records, rank) ? 0 : -1};
    if (!(of >= 0 && of < ranks && of == floor(of)))
        return clock;
    clock.line = line_of(&records[(int)of].end);
    clock.told = is_known(&clock.line.begin) && is_known(&clock.line.end);
    clock.of = clock.told ? (int)of : -1;
    if (of > 0) /* `of`: lowest rank with the same clock. Rank 0's clock is the reference and has no
                   error */
        clock.error_ns = clock_line_error_ns(&clock.line);
    return clock;
}

void records_take_clocks(struct rank_record *records, int ranks)
{
    for (int i = 0; i < ranks; i++)
        records[i].clock = clock_of(records, ranks, i);
}

/* If times on two clocks are compared, the errors of both clocks add up. So the largest error is
 * the sum of the two largest errors of different clocks. */
double records_clock_error_ns(const struct rank_record *records, int ranks)
{
    const struct record_clock *worst = &records[0].clock;
    double second_ns = 0;
    for (int i = 0; i < ranks; i++) {
        const struct record_clock *clock = &records[i].clock;
        if (clock->of < 0)
            return NAN;
        worst = clock->error_ns > worst->error_ns ? clock : worst;
    }
    for (int i = 0; i < ranks; i++)
        if (records[i].clock.of != worst->of)
            second_ns = fmax(second_ns, records[i].clock.error_ns);
    return worst->error_ns + second_ns;
}
