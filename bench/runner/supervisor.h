/* Executes elastic accuracy runs: segments in order, each on its own number of ranks and from the
 * checkpoint of the previous segment. If ranks die, the segment is restarted from the last
 * checkpoint, if any, up to restart.budget times per launch. The file seed<N>.segments.json, beside
 * the launches' folders, records every attempt (one start of the ranks). A resuming launch reads
 * it. Records of earlier attempts are in attempt-<NN>/ below the launch's folder. */
#pragma once

#include "bench/runner/attempt.h"

/* Runs the remaining segments in one launch. x->outcome: outcome of the last attempt, with the wall
 * time of the whole launch. x->after: text that states when ranks died in that attempt, and why
 * they were not restarted. It is "" if no restart was considered: for example, no ranks died, or
 * restarted ranks would fail again (as with a bad spec). */
enum status supervisor_run(struct execution *x, struct error *e);
