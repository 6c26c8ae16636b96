/* A campaign: its spec, the machine it runs on, the folder of its run, and all its launches. */
#pragma once

#include <stdbool.h>

#include "bench/base/interrupt.h"
#include "bench/base/progress.h"
#include "bench/order/launch_order.h"
#include "bench/place/place.h"
#include "bench/record/journal.h"
#include "bench/runner/core_locks.h"
#include "bench/runner/facts.h"
#include "bench/runner/owner.h"
#include "bench/runner/programs.h"
#include "bench/runner/tools.h"
#include "bench/runner/workloads.h"
#include "bench/sites/site.h"
#include "bench/spec/spec.h"

struct campaign_request {
    const char *spec; /* path of the spec as the user typed it */
    const char *set;  /* values of all --set options; NULL: none */
    const char *out;  /* folder of all results (--out) */
    bool fresh;       /* whether to begin a new run even if one could be resumed */
    char *const *command;
};

struct campaign {
    const struct campaign_request *request; /* borrowed */
    const struct tools *tools;              /* borrowed */
    struct place *place;
    struct launcher launcher;
    struct netns netns;           /* emulated hosts of this machine; they exist while launches use
                                     them */
    struct machines machines;     /* machines reached by ssh */
    struct allocation allocation; /* nodes of the batch job in which the runner runs */
    struct spec spec;
    char pin[PATH_BYTES];
    struct workloads workloads;
    struct programs programs;
    json_t *facts;
    uint64_t seed;          /* seed of the random order of launches, the same whenever the run is
                               resumed */
    char (*refusals)[1024]; /* [n_points] reason why the point cannot run here; "": it can run */
    size_t n_refused;
    char folder[PATH_BYTES];  /* <out>/<name of the campaign> */
    char run_dir[PATH_BYTES]; /* <out>/<name of the campaign>/<run>, absolute */
    bool resumed;             /* whether the run's folder existed before this command */
    size_t n_before;          /* number of launches in the journal when this command began */
    struct journal journal;
    struct owner owner;
    struct core_locks cores; /* locks on the cores of all points that can run here */
    enum { CORES_FREE, CORES_LOCKED, CORES_UNLOCKABLE } cores_state;
    struct launch_order order;
    struct interrupt interrupt;
    struct progress progress;
};

/* Reads the spec and the machine, and finds the points that cannot run here. Writes nothing. Call
 * campaign_close afterwards, also after an error. */
enum status campaign_prepare(struct campaign *c, const struct campaign_request *request,
                             const struct tools *tools, struct error *e);

/* Opens the newest run that shares a point with the spec and can be resumed (facts.h). If there is
 * none, prints why the last run does not fit and begins a new run. With `fresh`, always begins a
 * new run. Prints changed facts of a resumed run. If its spec has changed, keeps the earlier spec
 * as spec-<number>.yaml. ERR_UNAVAILABLE with process id and host if another runner uses the
 * run. */
enum status campaign_open_run(struct campaign *c, struct error *e);

/* Finds the folder of the run that campaign_open_run would resume; "" if it would begin a new run.
 * Writes nothing. */
enum status campaign_find_run(const struct campaign *c, char run_dir[PATH_BYTES], struct error *e);

/* Sets the link `latest` to this run again, since a newer run may have changed the link. */
enum status campaign_link_latest(const struct campaign *c, struct error *e);

/* For each point whose peer program (by other authors) has changed, writes the point's new key
 * (facts.h) to the journal. Results then use only launches with this key. */
enum status campaign_record_changes(struct campaign *c, struct error *e);

/* Marks the failed launches of the spec's points as retried, except outdated launches. *retried:
 * number of marked launches that no later launch replaces; campaign_run repeats these launches. */
enum status campaign_retry_failures(struct campaign *c, size_t *retried, struct error *e);

/* Runs the remaining launches. Can be called again, for example to retry launches with damaged
 * records. ERR_INTERRUPTED after a signal (c->interrupt.signal); all results are then on disk. */
enum status campaign_run(struct campaign *c, struct error *e);

void campaign_close(struct campaign *c);

/* Internal to bench/runner. Returns the last successful launch of the calibration point whose op
 * times `point` replays; NULL: none yet. */
const struct journal_launch *campaign_calibration(const struct campaign *c,
                                                  const struct point *point);

/* Internal to bench/runner. Prepares the command of a launch; its ranks write records to the folder
 * `record`. Free with site_launch_free. */
enum status campaign_prepare_launch(const struct campaign *c, const struct point *point,
                                    enum launch_run run, uint64_t seed, const char *record,
                                    struct site_launch *launch, struct error *e);

/* Segment of an elastic accuracy run: consecutive epochs on the same set of ranks. */
struct campaign_segment {
    uint32_t until; /* total number of epochs that the run has trained when this segment ends */
    uint64_t seed;
    bool resumes;     /* whether the segment continues from a checkpoint */
    bool omits_kill;  /* whether to drop inject.kind = kill, because the rank was already killed */
    const int *order; /* indices of the site's nodes to use, in order; NULL: 0, 1, 2, ... */
};
enum status campaign_prepare_segment(const struct campaign *c, const struct point *point,
                                     const struct campaign_segment *segment, const char *record,
                                     struct site_launch *launch, struct error *e);

/* Internal to bench/runner. Finds the responding nodes of the point's site, including spare nodes.
 * *nodes: their *n indices; NULL: the site cannot query nodes. First restores emulated hosts that
 * are gone. Free *nodes, also after an error. */
enum status campaign_ask_nodes(struct campaign *c, const struct point *point, int **nodes, int *n,
                               struct error *e);

/* Internal to bench/runner. Runs one launch and writes its result to the journal. */
enum status campaign_execute(struct campaign *c, const struct next_launch *item, struct error *e);

/* Prints the command line of a launch, quoted for a shell. */
void campaign_print_command(FILE *out, const struct site_launch *launch);
