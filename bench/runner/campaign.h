/* One campaign: a spec on this machine, the folder its run lives in, and running it to the end. */
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
    const char *spec; /* path as given */
    const char *set;  /* or NULL */
    const char *out;  /* folder of all results */
    bool fresh;       /* a new run even where one could be gone on with */
    char *const *command;
};

struct campaign {
    const struct campaign_request *request; /* borrowed */
    const struct tools *tools;              /* borrowed */
    struct place *place;
    struct launcher launcher;
    struct netns netns;           /* hosts of this campaign, while launches run on them */
    struct machines machines;     /* that ssh reaches */
    struct allocation allocation; /* of a batch job */
    struct spec spec;
    char pin[PATH_BYTES];
    struct workloads workloads;
    struct programs programs;
    json_t *facts;          /* what the points run on */
    uint64_t seed;          /* of the order of launches: the run's own */
    char (*refusals)[1024]; /* [n_points]: why a point cannot run here; "" when it can */
    size_t n_refused;
    char folder[PATH_BYTES];  /* <out>/<name> */
    char run_dir[PATH_BYTES]; /* <out>/<name>/<run>, absolute */
    bool resumed;             /* the run had been begun before */
    size_t n_before;          /* launches in the journal before this command ran any */
    struct journal journal;
    struct owner owner;
    struct core_locks cores; /* of all points that can run here */
    enum { CORES_FREE, CORES_LOCKED, CORES_UNLOCKABLE } cores_state;
    struct launch_order order;
    struct interrupt interrupt;
    struct progress progress;
};

/* Reads spec and machine and asks the site about every point; touches no folder. In any case ended
 * with campaign_close. */
enum status campaign_prepare(struct campaign *c, const struct campaign_request *request,
                             const struct tools *tools, struct error *e);

/* Finds the run to go on with, the newest that facts_go_on holds for and that shares a point, or begins a new one, and
 * says why: spec.yaml, manifest.json, journal, latest. A run that is gone on with keeps the spec that it
 * had as spec-<number>.yaml. ERR_UNAVAILABLE, naming the process, while another runner has it. */
enum status campaign_open_run(struct campaign *c, struct error *e);

/* Folder of the run that campaign_open_run would go on with; "" where it would begin one. Touches nothing. */
enum status campaign_find_run(const struct campaign *c, char run_dir[PATH_BYTES], struct error *e);

/* Makes this run the latest: another of the same name may have been begun meanwhile. */
enum status campaign_link_latest(const struct campaign *c, struct error *e);

/* Has launches of peers that are not what they were count no more, and those of what they are now
 * count again. */
enum status campaign_take_changes(struct campaign *c, struct error *e);

/* Takes back every launch that failed, so that it is none of the failures after which a point is given up, and
 * campaign_run tries again what no other launch has replaced; *retried says how many those are. Reads nothing but
 * the journal. */
enum status campaign_retry_failures(struct campaign *c, size_t *retried, struct error *e);

/* Runs what is left; also after launches have been taken back once more. ERR_INTERRUPTED after a signal (c->interrupt.signal), everything being on
 * disk. */
enum status campaign_run(struct campaign *c, struct error *e);

void campaign_close(struct campaign *c);

/* Inside bench/runner: the last launch that has ended well of those whose times pass in launches of a
 * point; NULL where there is none yet. */
const struct journal_launch *campaign_calibration(const struct campaign *c,
                                                  const struct point *point);

/* Inside bench/runner: prepares the launch of a point. `record` is the folder of its records. */
enum status campaign_prepare_launch(const struct campaign *c, const struct point *point,
                                    enum launch_run run, uint64_t seed, const char *record,
                                    struct site_launch *launch, struct error *e);

/* Inside bench/runner: the same of a segment of its accuracy run, on the ranks that the point's configuration
 * has then. */
struct campaign_segment {
    uint32_t until; /* epochs */
    uint64_t seed;
    bool resumes;     /* from its checkpoint */
    bool spared;      /* of inject.kind: kill, which has struck */
    const int *order; /* as site_job's */
};
enum status campaign_prepare_segment(const struct campaign *c, const struct point *point,
                                     const struct campaign_segment *segment, const char *record,
                                     struct site_launch *launch, struct error *e);

/* Inside bench/runner: which of the nodes of a point's site answer, spare ones too, in a list that is freed with free
 * also after an error; NULL where its nodes cannot be asked. Hosts that the campaign holds are brought up first where
 * they have gone with who held them. */
enum status campaign_ask_nodes(struct campaign *c, const struct point *point, int **nodes, int *n,
                               struct error *e);

/* Inside bench/runner: runs one launch and writes its end to the journal. */
enum status campaign_execute(struct campaign *c, const struct next_launch *item, struct error *e);

/* Writes a command line that a shell understands. */
void campaign_print_command(FILE *out, const struct site_launch *launch);
