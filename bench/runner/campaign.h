/* A campaign: a spec on this machine, the folder of its run, and its launches from the first to
 * the last. */
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
    const char *spec; /* path as the user typed it */
    const char *set;  /* values of --set; NULL: none */
    const char *out;  /* folder of all results */
    bool fresh;       /* begin a new run even if one could be resumed */
    char *const *command;
};

struct campaign {
    const struct campaign_request *request; /* borrowed */
    const struct tools *tools;              /* borrowed */
    struct place *place;
    struct launcher launcher;
    struct netns netns;           /* emulated hosts, up while launches run on them */
    struct machines machines;     /* machines reached by ssh */
    struct allocation allocation; /* nodes of the batch job */
    struct spec spec;
    char pin[PATH_BYTES];
    struct workloads workloads;
    struct programs programs;
    json_t *facts;
    uint64_t seed;          /* seed of the order of launches, fixed for the run */
    char (*refusals)[1024]; /* [n_points]: why a point cannot run here; "": it can */
    size_t n_refused;
    char folder[PATH_BYTES];  /* <out>/<name> */
    char run_dir[PATH_BYTES]; /* <out>/<name>/<run>, absolute */
    bool resumed;             /* the run existed before this command */
    size_t n_before;          /* launches in the journal when this command began */
    struct journal journal;
    struct owner owner;
    struct core_locks cores; /* cores of all points that can run here */
    enum { CORES_FREE, CORES_LOCKED, CORES_UNLOCKABLE } cores_state;
    struct launch_order order;
    struct interrupt interrupt;
    struct progress progress;
};

/* Reads the spec and the machine, and asks the site which points can run. Writes nothing. Call
 * campaign_close afterwards, also after an error. */
enum status campaign_prepare(struct campaign *c, const struct campaign_request *request,
                             const struct tools *tools, struct error *e);

/* Opens the run to resume: the newest run that shares a point with the spec and whose facts
 * allow it (facts_allow_resume). Without one, begins a new run. Prints which of the two and why. A
 * resumed run keeps its earlier spec as spec-<number>.yaml. ERR_UNAVAILABLE, naming the process,
 * while another runner has the run. */
enum status campaign_open_run(struct campaign *c, struct error *e);

/* Finds the folder of the run that campaign_open_run would resume; "" if it would begin a new
 * one. Writes nothing. */
enum status campaign_find_run(const struct campaign *c, char run_dir[PATH_BYTES], struct error *e);

/* Points the link `latest` at this run again: another run of the same name may have begun
 * meanwhile. */
enum status campaign_link_latest(const struct campaign *c, struct error *e);

/* Writes the current key of each peer to the journal. Launches of another version of a peer no
 * longer count; launches of the current version count again. */
enum status campaign_record_changes(struct campaign *c, struct error *e);

/* Marks every failed launch as retried, so that it no longer counts towards giving up its point.
 * campaign_run repeats those without a replacement; *retried is their number. Reads nothing but
 * the journal. */
enum status campaign_retry_failures(struct campaign *c, size_t *retried, struct error *e);

/* Runs the remaining launches. May be called again, for example after damaged launches were
 * taken back. ERR_INTERRUPTED after a signal (c->interrupt.signal); everything is then on disk. */
enum status campaign_run(struct campaign *c, struct error *e);

void campaign_close(struct campaign *c);

/* Internal to bench/runner. Returns the last successful calibration launch whose op times a
 * replayed point uses, NULL if there is none yet. */
const struct journal_launch *campaign_calibration(const struct campaign *c,
                                                  const struct point *point);

/* Internal to bench/runner. Prepares a launch of a point; `record` is the folder of its records.
 * Free with site_launch_free. */
enum status campaign_prepare_launch(const struct campaign *c, const struct point *point,
                                    enum launch_run run, uint64_t seed, const char *record,
                                    struct site_launch *launch, struct error *e);

/* Segment of an elastic accuracy run: epochs on one set of ranks, up to `until`. */
struct campaign_segment {
    uint32_t until; /* last epoch of the segment */
    uint64_t seed;
    bool resumes;     /* start from the run's checkpoint */
    bool spared;      /* omit inject.kind: kill, which has already struck */
    const int *order; /* nodes to use, as in site_job */
};
enum status campaign_prepare_segment(const struct campaign *c, const struct point *point,
                                     const struct campaign_segment *segment, const char *record,
                                     struct site_launch *launch, struct error *e);

/* Internal to bench/runner. Lists the nodes of a point's site that answer, spare nodes included.
 * Restores emulated hosts first if they are gone. Free *nodes with free, also after an error;
 * NULL if the site's nodes cannot be asked. */
enum status campaign_ask_nodes(struct campaign *c, const struct point *point, int **nodes, int *n,
                               struct error *e);

/* Internal to bench/runner. Runs one launch and writes its result to the journal. */
enum status campaign_execute(struct campaign *c, const struct next_launch *item, struct error *e);

/* Prints the command line of a launch, quoted for a shell. */
void campaign_print_command(FILE *out, const struct site_launch *launch);
