#include "bench/workloads/train_cnn/parts/noise_scale.h"

#include <math.h>

void noise_add(struct noise_sums *sums, double local2, double images, double total2,
               double all_images)
{
    if (images > 0) {
        sums->local2 += local2;
        sums->local_inverse += 1 / images;
        sums->locals++;
    }
    sums->total2 += total2;
    sums->total_inverse += 1 / all_images;
    sums->totals++;
}

/* Solves local2 = norm2 + variance / b and total2 = norm2 + variance / B for norm2 and variance. b:
 * images on one rank; B: images on all ranks. local2, total2, 1 / b and 1 / B are means over steps
 * and ranks. */
struct noise_estimate noise_estimate(const struct noise_sums *sums)
{
    double local2 = sums->local2 / sums->locals, total2 = sums->total2 / sums->totals;
    double local_inverse = sums->local_inverse / sums->locals;
    double total_inverse = sums->total_inverse / sums->totals;
    double variance = (local2 - total2) / (local_inverse - total_inverse);
    if (!(local_inverse > total_inverse) || !isfinite(variance))
        return (struct noise_estimate){NAN, NAN};
    return (struct noise_estimate){total2 - variance * total_inverse, variance};
}
