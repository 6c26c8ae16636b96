#include "kernels/layers/loss.h"

#include <math.h>

#include "kernels/simd/softmax.h"
#include "kernels/simd_tables.h"

SIMD_DECLARE(struct softmax_functions, softmax)

int largest_logit(const real *logits, int classes)
{
    int best = 0;
    for (int c = 1; c < classes; c++)
        if (logits[c] > logits[best])
            best = c;
    return best;
}

/* Returns ln(sum of exp(logit - maximum)) over the classes. `maximum` is the largest logit, so that
 * exp cannot overflow. */
static double log_sum_exp(const real *logits, int classes, double maximum)
{
    double sum = 0;
    for (int c = 0; c < classes; c++)
        sum += exp((double)logits[c] - maximum);
    return log(sum);
}

static void gradient_of(real *dlogits, const real *logits, int classes, int label, double log_total,
                        double scale)
{
    for (int c = 0; c < classes; c++) {
        double probability = exp((double)logits[c] - log_total);
        dlogits[c] = (real)(scale * (probability - (c == label ? 1 : 0)));
    }
}

struct score softmax_cross_entropy(int n, int classes, const real *logits, const uint8_t *labels,
                                   const real *weights, double gradient_scale, real *dlogits)
{
    struct score score = {0};
    for (int i = 0; i < n; i++, logits += classes) {
        double weight = weights != NULL ? (double)weights[i] : 1;
        int best = largest_logit(logits, classes);
        double log_total =
            (double)logits[best] + log_sum_exp(logits, classes, (double)logits[best]);
        if (dlogits != NULL) {
            gradient_of(dlogits, logits, classes, labels[i], log_total, weight * gradient_scale);
            dlogits += classes;
        }
        if (weight == 0)
            continue;
        score.loss_sum += weight * (log_total - (double)logits[labels[i]]);
        score.correct += best == labels[i];
        score.samples++;
    }
    return score;
}

/* Adds the score of n <= SOFTMAX_IMAGES images to *score. Sets dlogits [n,classes] unless it is
 * NULL. */
static void add_scores(struct score *score, enum isa isa, size_t n, size_t classes,
                       const real *logits, const uint8_t *labels, const real *weights,
                       double gradient_scale, real *dlogits)
{
    struct softmax_result results[SOFTMAX_IMAGES];
    double scale[SOFTMAX_IMAGES] = {0};
    for (size_t i = 0; i < n; i++)
        scale[i] = (weights != NULL ? (double)weights[i] : 1) * gradient_scale;
    softmax_for(isa)->softmax(n, classes, logits, labels, scale, results, dlogits);
    for (size_t i = 0; i < n; i++) {
        double weight = weights != NULL ? (double)weights[i] : 1;
        if (weight == 0)
            continue;
        score->loss_sum +=
            weight * (results[i].log_total - (double)logits[i * classes + labels[i]]);
        score->correct += results[i].best == labels[i];
        score->samples++;
    }
}

struct score softmax_cross_entropy_simd(enum isa isa, int n, int classes, const real *logits,
                                        const uint8_t *labels, const real *weights,
                                        double gradient_scale, real *dlogits)
{
    struct score score = {0};
    for (size_t i = 0; i < (size_t)n; i += SOFTMAX_IMAGES) {
        size_t count = (size_t)n - i < SOFTMAX_IMAGES ? (size_t)n - i : SOFTMAX_IMAGES;
        size_t at = i * (size_t)classes;
        add_scores(&score, isa, count, (size_t)classes, logits + at, labels + i,
                   weights != NULL ? weights + i : NULL, gradient_scale,
                   dlogits != NULL ? dlogits + at : NULL);
    }
    return score;
}
