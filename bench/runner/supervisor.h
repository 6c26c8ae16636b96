/* Elastic accuracy runs: segments on other ranks, one after another, each from the checkpoint of the one before;
 * and, within restart.budget, a new start from the last checkpoint when ranks have died. What was started when and how
 * it ended stands in seed<N>.segments.json beside the launches of the run, which a launch that goes on with an
 * interrupted one reads. Records of all but the last are in attempt-<NN>/ of the launch's folder. */
#pragma once

#include "bench/launch/launch.h"
#include "bench/runner/campaign.h"

enum { SUPERVISOR_TEXT = 200 };

/* *outcome is that of the last ranks, its time that of all of them. `after` says of a run that could not go on
 * when that was, and why it was not begun again. */
enum status supervisor_run(struct campaign *c, const struct next_launch *next, const char *folder,
                           double expected_s, struct launch_outcome *outcome,
                           char after[SUPERVISOR_TEXT], struct journal_launch *l, struct error *e);
