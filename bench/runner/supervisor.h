/* Runs elastic accuracy runs. Segments run one after another on different numbers of ranks, each
 * from the checkpoint of the previous one. If ranks die, the segment is restarted from the last
 * checkpoint (without a checkpoint, from the beginning), up to restart.budget times per launch. The
 * file seed<N>.segments.json, beside the launches' folders, records every attempt. A launch that
 * resumes an interrupted launch reads this file. Records of all but the last attempt are in
 * attempt-<NN>/ of the launch's folder. */
#pragma once

#include "bench/runner/attempt.h"

/* Runs the remaining segments in one launch. x->outcome is the outcome of the last attempt, but
 * with the total wall time. If ranks died and could not be restarted, x->after has the time of
 * death and the reason against a restart. x->after is "" if restarted ranks would fail again, as
 * after a bad spec. */
enum status supervisor_run(struct execution *x, struct error *e);
