#include "bench/base/votes.h"

#include <math.h>

#include "kernels/base/stats.h"

int votes_largest(const size_t *counts, int n)
{
    int largest = 0, ties = 0;
    for (int i = 1; i < n; i++) {
        ties = counts[i] > counts[largest] ? 0 : ties + (counts[i] == counts[largest]);
        largest = counts[i] > counts[largest] ? i : largest;
    }
    return counts[largest] > 0 && ties == 0 ? largest : -1;
}

static size_t votes_for(const int *votes, size_t n, int choice)
{
    size_t own = 0;
    for (size_t i = 0; i < n; i++)
        own += votes[i] == choice;
    return own;
}

struct votes votes_count(const int *votes, size_t n, int choices)
{
    struct votes result = {.choice = -1, .p = NAN};
    size_t most = 0;
    for (size_t i = 0; i < n; i++) {
        size_t own = votes[i] < 0 ? 0 : votes_for(votes, n, votes[i]);
        result.n += votes[i] >= 0;
        if (own > most)
            result.choice = votes[i];
        most = own > most ? own : most;
    }
    if (result.n > 0)
        result.p = stats_favourite_tail(result.n, most, (size_t)choices);
    return result;
}
