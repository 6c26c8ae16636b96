/* Gradient noise scale: batch size above which larger batches save few steps (McCandlish et al.
 * 2018, "An Empirical Model of Large-Batch Training", arXiv:1812.06162, appendix A.1).
 *
 * The squared norm of the mean gradient of b images has the expectation |G|^2 + S / b. G is the
 * gradient over all images. S is the variance of an image's gradient, summed over parameters. |G|^2
 * and S follow from the squared norms at two batch sizes: b images of one rank and B images of all
 * ranks. */
#pragma once

/* Sums over steps. trainer_sum_noise adds up the structs of all ranks as arrays, so all members
 * must be doubles. */
struct noise_sums {
    double local2;        /* sum over steps of the squared norm of this rank's mean gradient */
    double local_inverse; /* sum over steps of 1 / (number of images of a rank in the step) */
    double locals;        /* number of gradients in local2 */
    double total2;        /* sum over steps of the squared norm of all ranks' mean gradient */
    double total_inverse; /* sum over steps of 1 / (number of images of all ranks in the step) */
    double totals;        /* number of gradients in total2 */
};

/* Unbiased estimates; NAN if unknown. An estimate may be negative. */
struct noise_estimate {
    double norm2;    /* |G|^2: squared norm of the gradient over all images */
    double variance; /* S: variance of one image's gradient, summed over parameters */
};

/* Adds a step to *sums. local2: squared norm of this rank's mean gradient over `images` images;
 * ignored if `images` is 0. total2 may differ between ranks, but its mean over ranks must be the
 * squared norm of the mean gradient over the all_images images of all ranks. */
void noise_add(struct noise_sums *sums, double local2, double images, double total2,
               double all_images);

/* Estimates the squared norm of the gradient and the variance of one image's gradient, from sums
 * over steps and ranks. Both are NAN if no step was added, one rank has all images of every step,
 * or a sum is not finite. */
struct noise_estimate noise_estimate(const struct noise_sums *sums);
