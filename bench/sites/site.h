/* Sites: places where launches run. A site assigns ranks to nodes and cores and builds the launch
 * command. The runner starts the command, watches it and cleans up. */
#pragma once

#include "bench/place/place.h"
#include "bench/sites/allocation.h"
#include "bench/sites/argv.h"
#include "bench/sites/launcher.h"
#include "bench/sites/machines.h"
#include "bench/sites/netns.h"
#include "bench/spec/spec.h"
#include "kernels/base/error.h"

/* Inputs for a launch of a point, all borrowed. */
struct site_job {
    const struct point *point;
    const struct place *place;
    const struct launcher *launcher;
    const struct netns *netns;       /* emulated hosts, not necessarily up yet */
    const struct machines *machines; /* machines reached by ssh, not necessarily checked yet */
    const struct allocation *allocation;
    const char *program, *pin; /* paths of the measured program and of pin, which binds ranks */
    const char *folder;        /* folder of the launch, for its records */
    /* Arguments of the program, NULL-terminated. A user's program (workload: command) gets only
     * these arguments; other programs get the point's options first, then these arguments. */
    const char *const *arguments;
    const int *order; /* index, within the site, of each node of the point; NULL: 0, 1, 2, ... */
};

enum { SITE_CLEANUP_GONE = 4 };

/* Launch that is ready to execute. `argv`, `environment` (entries "KEY=value" to add) and `cleanup`
 * are NULL-terminated, each in one allocation. `cleanup` ends processes left on other machines;
 * NULL: not needed. */
struct site_launch {
    char **argv;
    char **environment;
    /* cleanup command; its exit status SITE_CLEANUP_GONE means that the batch job has ended */
    char **cleanup;
    bool by_daemons; /* whether daemons on the nodes start the ranks */
    struct place_plan plan;
};

/* Functions of a site, one table per row of sites.def. */
struct site {
    /* Fills the zeroed `launch`; see site_prepare. The caller frees `launch`, also after an
     * error. */
    enum status (*prepare)(const struct site_job *job, struct site_launch *launch, struct error *e);
    /* Writes the properties of the link between the site's hosts. If `link` is NULL or returns
     * false, hosts use the machine's own network. */
    bool (*link)(char text[LINK_BYTES], const struct config *config);
    /* See site_check and site_ready; NULL: nothing to check or to bring up. */
    enum status (*check)(struct netns *netns, struct machines *machines,
                         const struct config *config, struct error *e);
    enum status (*ready)(struct netns *netns, const struct config *config, struct error *e);
    /* whether site_check collects facts that `prepare` needs, so that launches must be prepared
     * again after the check */
    bool learns;
    /* Whether daemons on the nodes start the ranks. The runner then cannot measure the processor
     * time of other processes, so the ranks do. */
    bool by_daemons;
    /* `nodes` and `question` implement site_nodes and site_question. NULL: the site has no spare
     * nodes to use in place of nodes that do not answer. */
    int (*nodes)(const struct site_job *job);
    void (*question)(struct argv_builder *argv, const struct site_job *job, int node);
};

/* Checks that the site can run the point. ERR_UNAVAILABLE with the reason if the site cannot. Each
 * machine or emulated link is examined only once; later calls reuse the answer. Takes down hosts
 * that the check brings up. */
enum status site_check(struct netns *netns, struct machines *machines, const struct config *config,
                       struct error *e);

const struct site *site_of(const struct config *config);

/* Makes the site ready for the next launch: brings emulated hosts up if needed, or checks that ssh
 * machines answer. Call it before site_prepare. netns_down takes the hosts down. */
enum status site_ready(struct netns *netns, const struct config *config, struct error *e);

/* Returns the number of nodes that site_question can query, 0 if none. Nodes that the point uses
 * come first, then spare nodes. */
int site_nodes(const struct site_job *job);
/* Sets *question to a NULL-terminated command that exits with 0 if the node is available. Free with
 * free(). */
enum status site_question(char ***question, const struct site_job *job, int node, struct error *e);

/* Prepares a launch on the point's site. ERR_UNAVAILABLE with the reason if the point cannot run
 * here; the point is then skipped. */
enum status site_prepare(const struct site_job *job, struct site_launch *launch, struct error *e);
void site_launch_free(struct site_launch *launch);

/* Writes the link between the hosts of a point's site, such as "1gbit delay none" (notation of
 * ci/netns.sh). Returns false if the link is unknown, or if site.rate, site.delay or site.link is
 * not the default. */
bool site_link(char text[LINK_BYTES], const struct config *config);

/* Writes the link between hosts (see site_link) of the first point in the spec for which site_link
 * returns true. Returns false if there is no such point. */
bool sites_link(char text[LINK_BYTES], const struct spec *spec);
