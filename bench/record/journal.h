/* Journal of a run: results/<name>/<run>/journal.jsonl. It is append-only, and every line is synced
 * to disk before the runner continues. A torn last line is ignored.
 *
 *   {"event":"block","block":3,"points":["1a2b3c4d5e6f","2b3c4d5e6f7a"]}
 *                                               the points of a block's timed launches, in order
 *   {"event":"running","launch":"launches/1a2b3c4d5e6f/time-003","point":"1a2b3c4d5e6f","run":"time",
 *    "block":3,"seed":1,"key":"1a2b3c4d5e6f7a8b","at":"2026-11-20T19:05:03Z"}
 *                                               "shares_cores":true: cores could not be locked
 *   {"event":"done","launch":"launches/...","status":"ok","reason":"","wall_s":12.41,
 *    "foreign_pct":1.5,"step_ms":20.8,"images":256,"comm_replay_ms":1.25,"exit_status":1}
 *                        and a number per row of noise.def; unknown values are left out
 *   {"event":"skipped","point":"1a2b3c4d5e6f","reason":"..."}
 *   {"event":"able","point":"1a2b3c4d5e6f"}      a skipped point can run again
 *   {"event":"retry","launch":"launches/..."}    a failed or damaged launch no longer counts
 *   {"event":"key","point":"1a2b3c4d5e6f","key":"..."}
 *                                        launches of the point with other keys no longer count
 *   {"event":"finished","wall_s":231.0}          all launches of the campaign are done
 *
 * A launch with a line "running" and no line "done" was interrupted. Interrupted launches do not
 * count and are repeated under the next free number, as are retried launches. A block that has
 * begun is completed when the run is resumed. Journals of earlier versions do not list the points
 * of a block. `done` holds all measurements that the runner needs to resume. */
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
    LAUNCH_DIVERGED /* the records are complete, but hold infinities or NaN */
};
enum launch_run { RUN_TIME, RUN_ACCURACY };

/* Disturbances of a launch that the runner observed (noise.def); NAN: unknown. */
struct launch_noise {
#define NOISE(id, unit, launches, meaning) double id;
#include "bench/record/noise.def"
};

struct journal_launch {
    char launch[128]; /* folder of the launch, relative to the run's folder */
    char point[16];
    enum launch_run run;
    int block; /* number of the block, from 0; only if `run` is RUN_TIME */
    uint64_t seed;
    /* hash of the point's options and facts (facts_key); "": the launch was recorded by an earlier
     * version */
    char key[24];
    /* whether cores were not locked, so that another campaign may have used them too */
    bool shares_cores;
    enum launch_status status;
    /* whether `key` is not "" and differs from the point's current key: the launch is then kept,
     * but not used in results */
    bool outdated;
    bool retried; /* whether the launch failed and a later command recorded that it must be
                     retried */
    char reason[512];
    double wall_s; /* time from exec to exit (s); 0 while running */
    /* share (%) of time for which other programs, interrupts and a hypervisor used the launch's
     * processors; NAN: unknown */
    double foreign_pct;
    int exit_status; /* exit status of a failed launch; -1: unknown or ended by a signal */
    /* results of a timed launch: time per step (ms), images per step over all ranks, time to repeat
     * a step's communication calls without computation (ms); NAN: unknown */
    double step_ms, images, comm_replay_ms;
    char at[24]; /* time of the start, such as "2026-11-20T19:05:03Z"; "": unknown */
    struct launch_noise noise;
};

/* A block: one timed launch of each of several points, in random order. */
struct journal_block {
    int block;
    char (*points)[16];
    size_t n_points;
    size_t first_launch; /* index in `launches` of the first launch after the block began */
};

struct journal_skip {
    char point[16];
    char reason[512];
};

/* Current key of a point: a hash of its options and facts (facts_key). The point's launches with
 * another key do not count. */
struct journal_key {
    char point[16], key[24];
};

struct journal {
    char path[4096];
    int fd; /* file descriptor; -1: opened for reading only */
    struct journal_launch *launches;
    size_t n_launches;
    struct hsearch_data names; /* index of launches by name */
    struct journal_skip *skips;
    size_t n_skips;
    /* [n_blocks] blocks in the order in which they began; none in journals of earlier versions */
    struct journal_block *blocks;
    size_t n_blocks;
    struct journal_key *keys; /* [n_keys] current keys of the points for which the journal has a
                                 line "key" */
    size_t n_keys;
    bool finished;
};

/* Returns whether a launch ended with complete records and therefore need not be repeated. */
static inline bool launch_is_done(const struct journal_launch *launch)
{
    return launch->status == LAUNCH_OK || launch->status == LAUNCH_DIVERGED;
}

static inline bool launch_has_failed(const struct journal_launch *launch)
{
    return launch->status == LAUNCH_FAILED || launch->status == LAUNCH_TIMEOUT;
}

/* Reads <run>/journal.jsonl; a missing file is an empty journal. With `append`, also opens the file
 * for writing and locks it; ERR_UNAVAILABLE if another runner holds the lock. */
enum status journal_open(struct journal *j, const char *run_dir, bool append, struct error *e);
void journal_close(struct journal *j);

/* Returns ERR_SYSTEM if the journal's path no longer leads to the open file, so that further lines
 * would be lost. Every function below that appends a line checks this first. */
enum status journal_check(const struct journal *j, struct error *e);

/* Each of the following functions appends one line, syncs the file and updates the lists in
 * memory. */
/* Records the beginning of a block. `points`: identities of n points. */
enum status journal_block(struct journal *j, int block, const char *const *points, size_t n,
                          struct error *e);
enum status journal_running(struct journal *j, const struct journal_launch *launch,
                            struct error *e);
/* Records the end of the launch ended->launch, with its status and results. */
enum status journal_done(struct journal *j, const struct journal_launch *ended, struct error *e);
/* Records that a launch must be retried, and sets j->finished to false. A failed launch keeps its
 * status, and its member `retried` becomes true. A launch with complete records counts as
 * unfinished again: its status becomes LAUNCH_RUNNING. */
enum status journal_retry(struct journal *j, const char *launch, struct error *e);
enum status journal_skipped(struct journal *j, const char *point, const char *reason,
                            struct error *e);
/* Records that a skipped point can run again. */
enum status journal_able(struct journal *j, const char *point, struct error *e);
/* Sets the current key of a point, and `outdated` of the point's launches: true if a launch has a
 * different key, false if it has this key or none. */
enum status journal_key(struct journal *j, const char *point, const char *key, struct error *e);
enum status journal_finished(struct journal *j, double wall_s, struct error *e);

/* ---- Places ---- */

/* Launches that ended with complete records (launch_is_done), sorted by point and by block (timed
 * launches) or seed (accuracy runs). The pointers are valid until the journal gets another launch.
 * Call journal_places_close after journal_places_open in any case, even after an error. */
struct journal_places {
    const struct journal_launch **done;
    size_t n;
};
enum status journal_places_open(struct journal_places *places, const struct journal *j,
                                struct error *e);
/* Returns whether `places` contains a launch with the same point as `launch`, and the same block
 * (timed) or seed (accuracy). */
bool journal_place_is_filled(const struct journal_places *places,
                             const struct journal_launch *launch);
void journal_places_close(struct journal_places *places);
