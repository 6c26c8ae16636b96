/* Where launches run. A site plans ranks onto nodes and cores and says what to execute; the runner
 * starts it, watches it and cleans up. One .c a kind of site, exporting one const table. */
#ifndef SCALEBENCH_BENCH_SITES_SITE_H
#define SCALEBENCH_BENCH_SITES_SITE_H

#include "bench/place/place.h"
#include "bench/spec/spec.h"
#include "kernels/base/error.h"

/* A launch ready to execute: argv (NULL-terminated, in one allocation with its strings, freed with
 * free), extra environment "KEY=value" likewise, and where its ranks were planned to run. */
struct site_launch {
    char **argv;
    char **environment;
    struct place_plan plan;
};

struct site {
    const char *name;
    /* Prepares `point`'s launch. `program` and `pin` are paths of executables; `arguments` (NULL-
     * terminated) go to the program after the point's own. ERR_UNAVAILABLE with the reason when
     * this point cannot run here (the point is then skipped). */
    enum status (*prepare)(const struct point *point, const struct place *place,
                           const char *program, const char *pin, char *const *arguments,
                           struct site_launch *launch, struct error *e);
};

const struct site *site_get(const char *name);

/* What joins the hosts of a site, "1gbit delay none" as ci/netns.sh says it, where that is not the
 * machine's own; else NULL. */
const char *site_link(const char *name);
void site_launch_free(struct site_launch *launch);

#endif
