/* What a campaign still lacks, by the number of nodes that it takes. */
#pragma once

#include <stddef.h>

#include "bench/spec/spec.h"
#include "kernels/base/error.h"

/* Numbers of nodes of points that lack launches, ascending, each once; without those of points that lack
 * none but such as come with larger ones that are compared with them. */
struct missing {
    long *nodes;
    size_t n;
    const struct point
        *too_large; /* the first that lacks launches and has more threads than cores of a
                                    * node; NULL: none. Its nodes are not listed. */
};

/* By the journal of the campaign's latest run below `out`; all of the spec where there is none. Nodes are those of
 * `machine`. Freed with
 * missing_free in any case. */
enum status missing_find(struct missing *m, const struct spec *spec,
                         const struct spec_machine *machine, const char *out, struct error *e);
void missing_free(struct missing *m);
