/* Where launches run. A site plans ranks onto nodes and cores and says what to execute; the runner
 * starts it, watches it and cleans up. One .c a kind of site, exporting one const table. */
#pragma once

#include "bench/place/place.h"
#include "bench/sites/launcher.h"
#include "bench/spec/spec.h"
#include "kernels/base/error.h"

/* What a launch of a point runs, all borrowed. */
struct site_job {
    const struct point *point;
    const struct place *place;
    const struct launcher *launcher;
    const char *program, *pin; /* paths of executables */
    /* To the program: of a foreign one all, of others what follows the point's. NULL-terminated. */
    const char *const *arguments;
};

/* A launch ready to execute: argv (NULL-terminated, in one allocation with its strings, freed with
 * free), extra environment "KEY=value" likewise, and where its ranks were planned to run. */
struct site_launch {
    char **argv;
    char **environment;
    struct place_plan plan;
};

/* One for each line of sites.def. */
struct site {
    /* Fills the zeroed `launch`, whatever it returns; as site_prepare. */
    enum status (*prepare)(const struct site_job *job, struct site_launch *launch, struct error *e);
    /* As site_link; NULL where it is the machine's own. */
    const char *(*link)(void);
};

/* Prepares a launch on the site that its point names. ERR_UNAVAILABLE with the reason when this
 * point cannot run here (the point is then skipped). */
enum status site_prepare(const struct site_job *job, struct site_launch *launch, struct error *e);
void site_launch_free(struct site_launch *launch);

/* What joins the hosts of the site that a point names, "1gbit delay none" as ci/netns.sh says it,
 * where that is not the machine's own; else NULL. */
const char *site_link(const struct config *config);

/* The same of the first of a spec's points that has one. */
const char *sites_link(const struct spec *spec);
