/* Error rates and power of `scalebench compare` on simulated campaigns: `make bench-verdicts`.
 * Writes one CSV row per spread between campaigns, noise of launches, share of the spread common to
 * all points, and number of campaigns of the reference (1: no repetitions). A row has the shares of
 * equal points called different and called same, and the share of points 10 % slower called slower.
 * Argument: number of comparisons per row (1000). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "bench/compare/tests/simulated_campaigns.h"

static void print_row(const struct compared *what, struct simulated s, size_t k, size_t trials)
{
    struct sim_verdicts same = {.points = 0}, slower = {.points = 0};
    for (size_t t = 0; t < trials; t++) {
        sim_compare(&same, &s, what, k, 1);
        sim_compare(&slower, &s, what, k, 1.1);
    }
    printf("%g,%g,%g,%zu,%.4f,%.4f,%.4f\n", 100 * s.between, 100 * s.launch, s.shared, k,
           sim_share(&same, VERDICT_BAD) + sim_share(&same, VERDICT_GOOD),
           sim_share(&same, VERDICT_SAME), sim_share(&slower, VERDICT_BAD));
}

int main(int argc, char **argv)
{
    static const double between[] = {0.005, 0.01, 0.02}, launch[] = {0.01, 0.02, 0.03},
                        shared[] = {0, 0.5, 1};
    static const size_t campaigns[] = {1, 2, 3, 5, 10};
    size_t trials = argc > 1 ? (size_t)strtoul(argv[1], NULL, 10) : 1000;
    const struct compared *what;
    struct error e;
    if (compared_find(&what, "step_ms", &e) != OK)
        return 1;
    printf("between_pct,launch_pct,shared,campaigns,called_different,called_same,found\n");
    for (size_t k = 0; k < 5; k++)
        for (size_t b = 0; b < 3; b++)
            for (size_t l = 0; l < 3; l++)
                for (size_t c = 0; c < 3; c++)
                    print_row(what,
                              (struct simulated){.between = between[b],
                                                 .launch = launch[l],
                                                 .shared = shared[c],
                                                 .seed = 1},
                              campaigns[k], trials);
    return 0;
}
