#include "bench/spec/named_links.h"

#include <math.h>
#include <stddef.h>

#include "comm/cost/sweep.h"

const struct named_link *named_link(enum link_kind link)
{
#define COEFFICIENT(value, least, most)                                                            \
    {                                                                                              \
        .lo = least, .mid = value, .hi = most, .level = 0.95                                       \
    }
    static const struct named_link rows[LINKS] = {
#define FITTED_LINK(name, alpha, alpha_lo, alpha_hi, beta, beta_lo, beta_hi, gamma, gamma_lo,      \
                    gamma_hi, file, machine)                                                       \
    [LINK_##name] = {COEFFICIENT(alpha, alpha_lo, alpha_hi), COEFFICIENT(beta, beta_lo, beta_hi),  \
                     COEFFICIENT(gamma, gamma_lo, gamma_hi), file},
#define STATED_LINK(name, alpha, beta, source)                                                     \
    [LINK_##name] = {COEFFICIENT(alpha, NAN, NAN), COEFFICIENT(beta, NAN, NAN),                    \
                     COEFFICIENT(NAN, NAN, NAN), NULL},
#define LINK_SCATTER(...)
#include "bench/spec/nodes/links.def"
    };
    return link == LINK_none ? NULL : &rows[link];
}

const double *named_link_paces(enum link_kind link)
{
    static const double rows[LINKS][LINK_PACES] = {
#define FITTED_LINK(...)
#define STATED_LINK(...)
#define LINK_SCATTER(name, ...) [LINK_##name] = {__VA_ARGS__},
#include "bench/spec/nodes/links.def"
    };
    return rows[link];
}
