#include "bench/base/scaling_laws.h"

#include <math.h>
#include <stdbool.h>

/* Form of a scaling law, linear in its parameters sigma and kappa: 1 + sigma a(p) + kappa b(p) is
 * the efficiency or its inverse. */
struct shape {
    bool inverse; /* whether 1 + sigma a(p) + kappa b(p) is p / S, not S / p; p: processors relative
                     to the base, S: speed-up */
    double (*a)(double p), (*b)(double p);
};

static double others(double p)
{
    return p - 1;
}

static double pairs(double p)
{
    return p * (p - 1);
}

static double minus_others_share(double p)
{
    return 1 / p - 1;
}

static const struct shape shapes[LAWS] = {
    [LAW_amdahl] = {true, others, NULL},
    [LAW_gustafson] = {false, minus_others_share, NULL},
    [LAW_usl] = {true, others, pairs},
};

struct parameters {
    double sigma, kappa;
};

static double linear_form(const struct shape *shape, struct parameters at, double p)
{
    return 1 + at.sigma * shape->a(p) + (shape->b != NULL ? at.kappa * shape->b(p) : 0);
}

static double measured_form(const struct shape *shape, const struct scaling_point *point)
{
    return shape->inverse ? point->p / point->speedup : point->speedup / point->p;
}

static double sum_of_squares(const struct shape *shape, struct parameters at,
                             const struct scaling_point *points, size_t n)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++) {
        double difference =
            log(measured_form(shape, &points[i]) / linear_form(shape, at, points[i].p));
        sum += difference * difference;
    }
    return sum;
}

/* Coefficients of the cost aa sigma^2 + 2 ab sigma kappa + bb kappa^2 - 2 az sigma - 2 bz kappa.
 * Each is a sum over the points. */
struct normal {
    double aa, ab, bb, az, bz;
};

/* Returns the sums of the least-squares problem, linearised about the law with parameters `at`. If
 * `at` is NULL, it is linearised about the measured values. */
static struct normal normal_of(const struct shape *shape, const struct parameters *at,
                               const struct scaling_point *points, size_t n)
{
    struct normal sums = {0};
    for (size_t i = 0; i < n; i++) {
        double p = points[i].p, measured = measured_form(shape, &points[i]);
        double form = at != NULL ? linear_form(shape, *at, p) : measured;
        double a = shape->a(p) / form, b = shape->b != NULL ? shape->b(p) / form : 0;
        double z = log(measured / form) + 1 - 1 / form;
        sums.aa += a * a;
        sums.ab += a * b;
        sums.bb += b * b;
        sums.az += a * z;
        sums.bz += b * z;
    }
    return sums;
}

static double cost_of(const struct normal *s, struct parameters at)
{
    return at.sigma * (s->aa * at.sigma + 2 * s->ab * at.kappa - 2 * s->az) +
           at.kappa * (s->bb * at.kappa - 2 * s->bz);
}

/* Minimises the quadratic cost over kappa >= 0 at the given `sigma`. */
static struct parameters with_sigma(const struct normal *s, double sigma)
{
    double kappa = s->bb > 0 ? (s->bz - s->ab * sigma) / s->bb : 0;
    return (struct parameters){sigma, fmax(kappa, 0)};
}

/* Minimises the quadratic cost over 0 <= sigma <= 1, kappa >= 0 (Lawson and Hanson, "Solving least
 * squares problems", 1974). */
static struct parameters minimum_of(const struct normal *s)
{
    double determinant = s->aa * s->bb - s->ab * s->ab;
    struct parameters free = {(s->az * s->bb - s->bz * s->ab) / determinant,
                              (s->bz * s->aa - s->az * s->ab) / determinant};
    if (determinant > 0 && free.sigma >= 0 && free.sigma <= 1 && free.kappa >= 0)
        return free;
    const struct parameters edges[] = {
        {fmin(fmax(s->az / s->aa, 0), 1), 0}, with_sigma(s, 0), with_sigma(s, 1)};
    struct parameters least = edges[0];
    for (size_t i = 1; i < sizeof edges / sizeof *edges; i++)
        if (cost_of(s, edges[i]) < cost_of(s, least))
            least = edges[i];
    return least;
}

/* Moves *at towards `to`, halving the move until the sum of squares falls below *sum. Updates *sum.
 * Returns false if the sum did not fall by more than rounding errors. */
static bool descend(struct parameters *at, struct parameters to, double *sum,
                    const struct shape *shape, const struct scaling_point *points, size_t n)
{
    for (double share = 1; share > 1e-6; share /= 2) {
        struct parameters next = {at->sigma + share * (to.sigma - at->sigma),
                                  at->kappa + share * (to.kappa - at->kappa)};
        double found = sum_of_squares(shape, next, points, n);
        if (!(found < *sum))
            continue;
        bool goes_on = *sum - found > 1e-14 * *sum;
        *at = next;
        *sum = found;
        return goes_on;
    }
    return false;
}

enum { STEPS_MOST = 50 };

/* Fits the parameters by the Gauss-Newton method, beginning at the weighted linear solution. *sum:
 * sum of squared residuals of the fit. */
static struct parameters parameters_of(double *sum, const struct shape *shape,
                                       const struct scaling_point *points, size_t n)
{
    struct normal sums = normal_of(shape, NULL, points, n);
    struct parameters at = minimum_of(&sums);
    *sum = sum_of_squares(shape, at, points, n);
    for (int step = 0; step < STEPS_MOST; step++) {
        sums = normal_of(shape, &at, points, n);
        if (!descend(&at, minimum_of(&sums), sum, shape, points, n))
            break;
    }
    return at;
}

static bool are_usable(const struct scaling_point *points, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (!(points[i].p > 1 && points[i].speedup > 0 && isfinite(points[i].p) &&
              isfinite(points[i].speedup)))
            return false;
    return true;
}

double scaling_speedup(enum scaling_law law, const struct scaling_fit *fit, double p)
{
    double form = linear_form(&shapes[law], (struct parameters){fit->sigma, fit->kappa}, p);
    return shapes[law].inverse ? p / form : p * form;
}

/* Sets fit->limit, the largest speed-up that the law allows, and fit->limit_p, the number p of
 * processors that gives it. If kappa > 0, limit_p is sqrt((1 - sigma) / kappa), but at least 1;
 * otherwise INFINITY. */
static void set_limit(struct scaling_fit *fit, enum scaling_law law)
{
    fit->limit_p = fit->kappa > 0 ? fmax(sqrt((1 - fit->sigma) / fit->kappa), 1) : INFINITY;
    if (fit->kappa > 0)
        fit->limit = scaling_speedup(law, fit, fit->limit_p);
    else if (shapes[law].inverse)
        fit->limit = 1 / fit->sigma;
    else
        fit->limit = fit->sigma < 1 ? INFINITY : 1;
}

struct scaling_fit scaling_fit(enum scaling_law law, const struct scaling_point *points, size_t n)
{
    const struct shape *shape = &shapes[law];
    struct scaling_fit fit = {NAN, NAN, NAN, NAN, NAN};
    if (n < (shape->b != NULL ? 2 : 1) || !are_usable(points, n))
        return fit;
    double sum;
    struct parameters at = parameters_of(&sum, shape, points, n);
    fit = (struct scaling_fit){.sigma = at.sigma,
                               .kappa = shape->b != NULL ? at.kappa : NAN,
                               .residual = sqrt(sum / (double)n)};
    set_limit(&fit, law);
    return fit;
}
