/* Runs elastic accuracy runs. Segments run one after another on different numbers of ranks, each
 * from the checkpoint of the previous one. If ranks die, the segment is restarted from the last
 * checkpoint (without a checkpoint, from the beginning), up to restart.budget times per launch. The
 * file seed<N>.segments.json, beside the launches' folders, records every attempt. A launch that
 * resumes an interrupted launch reads this file. Records of all but the last attempt are in
 * attempt-<NN>/ of the launch's folder. */
#pragma once

#include "bench/runner/attempt.h"

/* Runs the remaining segments in one launch. x->outcome: outcome of the last attempt, with the wall
 * time of the whole launch. x->after: time of death, and reason why the ranks could not be
 * restarted; "" if no ranks died, or if restarted ranks would fail again (as with a bad spec). */
enum status supervisor_run(struct execution *x, struct error *e);
