/* Where launches run. A site plans ranks onto nodes and cores and says what to execute; the runner
 * starts it, watches it and cleans up. One .c a kind of site, exporting one const table. */
#pragma once

#include "bench/place/place.h"
#include "bench/sites/allocation.h"
#include "bench/sites/argv.h"
#include "bench/sites/launcher.h"
#include "bench/sites/machines.h"
#include "bench/sites/netns.h"
#include "bench/spec/spec.h"
#include "kernels/base/error.h"

/* What a launch of a point runs, all borrowed. */
struct site_job {
    const struct point *point;
    const struct place *place;
    const struct launcher *launcher;
    const struct netns *netns;       /* as they are, up or not */
    const struct machines *machines; /* as far as they have been asked */
    const struct allocation *allocation;
    const char *program, *pin; /* paths of executables */
    const char *folder;        /* of the launch, where its records go */
    /* To the program: of a foreign one all, of others what follows the point's. NULL-terminated. */
    const char *const *arguments;
    const int
        *order; /* which of the site's nodes are the point's, in their order; NULL: the first */
};

/* Which of the site's nodes the point's is. */
static inline int site_job_node(const struct site_job *job, int node)
{
    return job->order != NULL ? job->order[node] : node;
}

enum { SITE_CLEANUP_GONE = 4 };

/* A launch ready to execute: argv (NULL-terminated, in one allocation with its strings, freed with
 * free), extra environment "KEY=value" likewise, what ends whatever it leaves on other machines where it
 * does not end in order (NULL: it leaves nothing there), and where its ranks were planned to run. */
struct site_launch {
    char **argv;
    char **environment;
    char **cleanup;  /* exit status SITE_CLEANUP_GONE: the machines are not the launch's any more */
    bool by_daemons; /* as of struct site */
    struct place_plan plan;
};

/* One for each line of sites.def. */
struct site {
    /* Fills the zeroed `launch`, whatever it returns; as site_prepare. */
    enum status (*prepare)(const struct site_job *job, struct site_launch *launch, struct error *e);
    /* Says what joins its hosts; false, as NULL, where that is the machine's own. */
    bool (*link)(char text[LINK_BYTES], const struct config *config);
    /* As site_check and site_ready; NULL where there is nothing to ask or to bring up. */
    enum status (*check)(struct netns *netns, struct machines *machines,
                         const struct config *config, struct error *e);
    enum status (*ready)(struct netns *netns, const struct config *config, struct error *e);
    bool learns; /* a launch is prepared otherwise once site_check has asked */
    /* Daemons of nodes start its ranks: what others take is known from records alone, not from what the runner's
     * descendants used. */
    bool by_daemons;
    /* As site_nodes and site_question; NULL: nobody takes the place of a node that is gone. */
    int (*nodes)(const struct site_job *job);
    void (*question)(struct argv_builder *argv, const struct site_job *job, int node);
};

/* Whether what a launch needs can be brought up or reached, asked once for all points that need the same:
 * ERR_UNAVAILABLE with the reason. Nothing stays up. */
enum status site_check(struct netns *netns, struct machines *machines, const struct config *config,
                       struct error *e);

/* The site that a point names. */
const struct site *site_of(const struct config *config);

/* Brings it up, where it is not, for the next launch: prepared after this. netns_down takes it down. */
enum status site_ready(struct netns *netns, const struct config *config, struct error *e);

/* How many nodes can be told to be there or gone, of which a point wants the first: the others are spare.
 * 0: none can. */
int site_nodes(const struct site_job *job);
/* A command, NULL-terminated, that ends well where a node answers; freed with free, NULL without memory. */
char **site_question(const struct site_job *job, int node);

/* Prepares a launch on the site that its point names. ERR_UNAVAILABLE with the reason when this
 * point cannot run here (the point is then skipped). */
enum status site_prepare(const struct site_job *job, struct site_launch *launch, struct error *e);
void site_launch_free(struct site_launch *launch);

/* What joins the hosts of the site that a point names, "1gbit delay none" as ci/netns.sh says it,
 * where the point's options say no more than their presets; else false. */
bool site_link(char text[LINK_BYTES], const struct config *config);

/* The same of the first of a spec's points that has one. */
bool sites_link(char text[LINK_BYTES], const struct spec *spec);
