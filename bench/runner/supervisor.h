/* Executes elastic accuracy runs. The segments of a run are executed in order, each on its own
 * number of ranks and from the checkpoint of the previous segment. If ranks die, the segment is
 * restarted from the last checkpoint (without a checkpoint, from the beginning), up to
 * restart.budget times per launch. The file seed<N>.segments.json, beside the launches' folders,
 * records every attempt (one start of the ranks). A launch that resumes an interrupted launch reads
 * this file. Records of the last attempt are in the launch's folder; records of each earlier
 * attempt are in a subfolder, attempt-<NN>/. */
#pragma once

#include "bench/runner/attempt.h"

/* Runs the remaining segments in one launch. x->outcome: outcome of the last attempt, with the wall
 * time of the whole launch. x->after: time at which ranks died in the last attempt, and reason why
 * they could not be restarted; "" if no ranks died in the last attempt, or if restarted ranks would
 * fail again (as with a bad spec). */
enum status supervisor_run(struct execution *x, struct error *e);
