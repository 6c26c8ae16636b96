/* PyTorch's results for the steps of test_gradients: kernels/net/tests/gradients.csv, written by
 * bench/tests/lib/pytorch_gradients.py. */
#pragma once

#include "kernels/net/tests/gradients.h"

#include <errno.h>
#include <stdio.h>

enum { ROWS_MAX = 512, TENSORS_MAX = 64 };

/* A tensor of a net: norm and projection of its gradient in double, and the norm of the error in
 * float. */
struct row {
    char net[32], tensor[64];
    int images;
    uint64_t seed, hash;
    double norm, projection, error;
};

static inline int read_rows(struct row rows[ROWS_MAX])
{
    FILE *file = fopen("kernels/net/tests/gradients.csv", "r");
    if (!file)
        fail_msg("kernels/net/tests/gradients.csv: %s", strerror(errno));
    char line[400];
    int n = 0;
    while (fgets(line, sizeof line, file)) {
        unsigned long long seed, hash;
        struct row *r = &rows[n];
        if (line[0] == '#' || strncmp(line, "net,", 4) == 0)
            continue;
        assert_true(n < ROWS_MAX);
        if (sscanf(line, "%31[^,],%d,%llu,%llx,%63[^,],%lf,%lf,%lf", r->net, &r->images, &seed,
                   &hash, r->tensor, &r->norm, &r->projection, &r->error) != 8)
            fail_msg("gradients.csv: %s", line);
        r->seed = seed;
        r->hash = hash;
        n++;
    }
    fclose(file);
    return n;
}

/* Returns the first row of a net and seed; its tensors follow in order. */
static inline const struct row *rows_of(const struct row *rows, int n,
                                        const struct gradient_input *in)
{
    for (int i = 0; i < n; i++)
        if (strcmp(rows[i].net, in->about.net) == 0 && rows[i].seed == in->seed) {
            assert_true(i + in->desc.n_tensors <= n);
            for (int t = 0; t < in->desc.n_tensors; t++)
                assert_string_equal(rows[i + t].tensor, in->desc.tensors[t].name);
            return &rows[i];
        }
    fail_msg("gradients.csv has no %s of seed %llu", in->about.net, (unsigned long long)in->seed);
    return NULL;
}
