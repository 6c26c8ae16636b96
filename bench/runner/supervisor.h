/* Elastic accuracy runs: segments on different ranks, one after another, each from the
 * checkpoint of the previous one. If ranks die, the run restarts from its last checkpoint, up to
 * restart.budget times. A file beside the launches of the run, seed<N>.segments.json, records
 * each segment. A launch that resumes an interrupted one reads that file. Records of all but the
 * last segment are in attempt-<NN>/ of the launch's folder. */
#pragma once

#include "bench/launch/launch.h"
#include "bench/runner/campaign.h"

enum { SUPERVISOR_TEXT = 200 };

/* Runs the segments of one launch. *outcome is the outcome of the last segment, with the time of
 * all. If the run failed, `after` says at which epoch and why it was not restarted. */
enum status supervisor_run(struct campaign *c, const struct next_launch *next, const char *folder,
                           double expected_s, struct launch_outcome *outcome,
                           char after[SUPERVISOR_TEXT], struct journal_launch *l, struct error *e);
