#include "bench/forecast/link_fit.h"

#include <math.h>

/* REWEIGHTS rounds of reweighting, each with DESCENTS rounds of coordinate descent, suffice to
 * converge. SMALLEST_ERROR (relative) keeps the weights 1 / error finite. */
enum { REWEIGHTS = 50, DESCENTS = 300 };
#define SMALLEST_ERROR 0.001

/* Normal equations of a weighted least-squares fit of relative errors. */
struct normal {
    double matrix[LINK_COEFFICIENTS][LINK_COEFFICIENTS], right[LINK_COEFFICIENTS];
};

static double relative_error(const struct link_sample *s, const double at[LINK_COEFFICIENTS])
{
    double ms = s->rest_ms;
    for (int k = 0; k < LINK_COEFFICIENTS; k++)
        ms += s->slopes[k] * at[k];
    return ms / s->measured_ms - 1;
}

static void add(struct normal *n, const struct link_sample *s, double weight)
{
    for (int i = 0; i < LINK_COEFFICIENTS; i++) {
        double x = weight * s->slopes[i] / s->measured_ms;
        n->right[i] += x * (1 - s->rest_ms / s->measured_ms);
        for (int k = 0; k < LINK_COEFFICIENTS; k++)
            n->matrix[i][k] += x * s->slopes[k] / s->measured_ms;
    }
}

/* Minimises the squared errors by coordinate descent: one coefficient after another, each >= 0. */
static void descend(double at[LINK_COEFFICIENTS], const struct normal *n)
{
    for (int round = 0; round < DESCENTS; round++)
        for (int i = 0; i < LINK_COEFFICIENTS; i++) {
            double right = n->right[i];
            for (int k = 0; k < LINK_COEFFICIENTS; k++)
                right -= k != i ? n->matrix[i][k] * at[k] : 0;
            if (n->matrix[i][i] > 0)
                at[i] = fmax(right / n->matrix[i][i], 0);
        }
}

bool link_fit(double fitted[LINK_COEFFICIENTS], const struct link_sample *samples, size_t n)
{
    size_t used = 0;
    for (size_t i = 0; i < n; i++)
        used += !samples[i].left_out;
    for (int round = 0; round < REWEIGHTS && used > LINK_COEFFICIENTS; round++) {
        struct normal normal = {0};
        for (size_t i = 0; i < n; i++) {
            double error = fabs(relative_error(&samples[i], fitted));
            if (!samples[i].left_out)
                add(&normal, &samples[i], 1 / fmax(error, SMALLEST_ERROR));
        }
        descend(fitted, &normal);
    }
    return used > LINK_COEFFICIENTS;
}
