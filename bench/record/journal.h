/* The journal of a campaign: results/<name>/<run>/journal.jsonl, append-only, every line on disk
 * before the next step is taken, so that whatever is killed can be gone on with. A torn last line
 * is ignored.
 *
 *   {"event":"block","block":3,"points":["1a2b3c4d5e6f","2b3c4d5e6f7a"]}    the timed launches to come
 *   {"event":"running","launch":"launches/1a2b3c4d5e6f/time-003","point":"1a2b3c4d5e6f","run":"time",
 *    "block":3,"seed":1,"key":"1a2b3c4d5e6f7a8b","at":"2026-11-20T19:05:03Z"}
 *                                               "shares_cores":true: cores had no locks
 *   {"event":"done","launch":"launches/...","status":"ok","reason":"","wall_s":12.41,
 *    "foreign_pct":1.5,"step_ms":20.8,"images":256,"comm_replay_ms":1.25,"exit_status":1}
 *                        and the rows of noise.def; what is unknown is left out
 *   {"event":"skipped","point":"1a2b3c4d5e6f","reason":"..."}
 *   {"event":"able","point":"1a2b3c4d5e6f"}      what it was skipped for is there now
 *   {"event":"retry","launch":"launches/..."}    it failed and is tried again: it counts no more
 *   {"event":"key","point":"1a2b3c4d5e6f","key":"..."}   its launches of other keys count no more
 *   {"event":"finished","wall_s":231.0}          all launches of the campaign are done
 *
 * A launch that is running and not done was interrupted: it does not count and is run again under
 * the next free number. The same holds for one that is to be tried again. A block that was begun is
 * completed by whoever goes on; journals of earlier versions do not say which points a block has. What
 * a timed launch measured stands in its end, so that to go on reads no records. */
#pragma once

#include <search.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "kernels/base/error.h"

enum launch_status {
    LAUNCH_RUNNING,
    LAUNCH_OK,
    LAUNCH_FAILED,
    LAUNCH_TIMEOUT,
    LAUNCH_DIVERGED /* its records are whole, but hold what is infinite or no number */
};
enum launch_run { RUN_TIME, RUN_ACCURACY };

/* What was seen of a launch from outside; NAN: unknown. */
struct launch_noise {
#define NOISE(id, unit, launches, meaning) double id;
#include "bench/record/noise.def"
};

struct journal_launch {
    char launch[128]; /* folder, relative to the run's */
    char point[16];
    enum launch_run run;
    int block; /* of RUN_TIME, from 0 */
    uint64_t seed;
    char key[24];      /* what it belongs to: point and what it ran on; "" of earlier versions */
    bool shares_cores; /* another campaign may have run on its cores: there were no locks */
    enum launch_status status;
    bool outdated; /* its key is not that of its point any more: it is kept and does not count */
    bool retried;  /* it failed, and was tried again by a later run of the campaign */
    char reason[512];
    double wall_s;      /* exec to exit; 0 while running */
    double foreign_pct; /* of its processors' time that others took meanwhile; NAN: unknown */
    int exit_status;    /* of one that failed; -1: unknown, or ended by a signal */
    /* As in struct launch_result, `images` being its global batch; NAN: unknown, or not timed. */
    double step_ms, images, comm_replay_ms;
    char at[24]; /* when it was started, "2026-11-20T19:05:03Z"; "": unknown */
    struct launch_noise noise;
};

/* Timed launches that belong together: points once each, in random order. */
struct journal_block {
    int block;
    char (*points)[16];
    size_t n_points;
    size_t first_launch; /* of the journal, that came after this line */
};

struct journal_skip {
    char point[16];
    char reason[512];
};

/* What the launches of a point belong to now. */
struct journal_key {
    char point[16], key[24];
};

struct journal {
    char path[4096];
    int fd; /* -1 when only read */
    struct journal_launch *launches;
    size_t n_launches;
    struct hsearch_data names; /* of launches, to their places among them */
    struct journal_skip *skips;
    size_t n_skips;
    struct journal_block *blocks; /* as begun; none in journals of earlier versions */
    size_t n_blocks;
    struct journal_key *keys; /* of points for which the journal says so */
    size_t n_keys;
    bool finished;
};

/* Whether a launch ended with all of its records: it is not run again. */
static inline bool launch_is_done(const struct journal_launch *launch)
{
    return launch->status == LAUNCH_OK || launch->status == LAUNCH_DIVERGED;
}

static inline bool launch_has_failed(const struct journal_launch *launch)
{
    return launch->status == LAUNCH_FAILED || launch->status == LAUNCH_TIMEOUT;
}

/* Reads <run>/journal.jsonl (none yet is an empty journal); with `append` also opens it for
 * writing, locked: a second runner on the same run gets ERR_UNAVAILABLE. */
enum status journal_open(struct journal *j, const char *run_dir, bool append, struct error *e);
void journal_close(struct journal *j);

/* ERR_SYSTEM when the file that is open is no longer the one at the journal's path: the folder was
 * removed, replaced or unmounted, and what is written goes nowhere. Every write below looks
 * first. */
enum status journal_check(const struct journal *j, struct error *e);

/* Each writes a line, syncs it and updates the lists. */
/* The points' identities, n of them. */
enum status journal_block(struct journal *j, int block, const char *const *points, size_t n,
                          struct error *e);
enum status journal_running(struct journal *j, const struct journal_launch *launch,
                            struct error *e);
/* The end of the launch of that name: its status and what follows it. */
enum status journal_done(struct journal *j, const struct journal_launch *ended, struct error *e);
/* Takes back the end of a launch: one that had failed is `retried`, another becomes
 * LAUNCH_RUNNING; `finished` is false. */
enum status journal_retry(struct journal *j, const char *launch, struct error *e);
enum status journal_skipped(struct journal *j, const char *point, const char *reason,
                            struct error *e);
/* Takes back that a point was skipped. */
enum status journal_able(struct journal *j, const char *point, struct error *e);
/* From now on launches of the point count that have this key, or none. */
enum status journal_key(struct journal *j, const char *point, const char *key, struct error *e);
enum status journal_finished(struct journal *j, double wall_s, struct error *e);

/* ---- Places ---- */

/* The launches that are done, by the place that each fills: of a point in a block, or of its seed. Borrowed from the
 * journal, in which no launch is begun meanwhile. Closed in any case. */
struct journal_places {
    const struct journal_launch **done;
    size_t n;
};
enum status journal_places_open(struct journal_places *places, const struct journal *j,
                                struct error *e);
/* Whether this launch, or another in its place, is done. */
bool journal_place_is_filled(const struct journal_places *places,
                             const struct journal_launch *launch);
void journal_places_close(struct journal_places *places);
