/* Records the activities of a rank in each step, as spans of time in memory. A span costs two clock
 * readings. If the timeline is NULL, functions do nothing; only timeline_step requires a timeline.
 * Not thread-safe.
 *
 * To add a phase, add a row to TIMELINE_PHASES, a call of timeline_add where the phase ends and a
 * colour in plots/timeline.gp. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "kernels/base/error.h"

/* Activities of a rank: PHASE(name, meaning). The meanings are printed in the dictionary of
 * columns. */
#define TIMELINE_PHASES(PHASE)                                                                     \
    PHASE(step, "the whole step")                                                                  \
    PHASE(load, "assembling a batch of images")                                                    \
    PHASE(forward, "forward pass of an op, or the loss")                                           \
    PHASE(backward, "backward pass of an op")                                                      \
    PHASE(pack, "local copies, casts and sums for communication")                                  \
    PHASE(comm, "communication not hidden by computation, as in comm_exposed_ms")                  \
    PHASE(flight, "a sum over ranks, from its start until its completion was noticed")             \
    PHASE(bubble, "waiting for another pipeline stage")                                            \
    PHASE(optimizer, "parameter update")                                                           \
    PHASE(inject, "sleep by inject.kind")

#define PHASE_ID(name, meaning) PHASE_##name,
enum phase { TIMELINE_PHASES(PHASE_ID) PHASES };
#undef PHASE_ID

const char *const *phase_names(void);

/* One activity of a rank, from begin_ns to end_ns (times of clock_ns). */
struct timeline_span {
    enum phase phase;
    const char *name; /* activity, for example an op; borrowed, must outlive the timeline */
    int64_t begin_ns, end_ns;
};

struct timeline;

/* Creates a timeline that keeps at most the first `steps_most` steps and stores at most
 * `bytes_most` bytes of spans. Close with timeline_close. */
enum status timeline_open(struct timeline **timeline, size_t steps_most, size_t bytes_most,
                          struct error *e);
void timeline_close(struct timeline *t);

/* Prepares for a step. May allocate memory, so call it outside timed sections. Reserves max(4096, 2
 * n) spans, where n is the largest number of spans in a step so far. If `bytes_most` has no room
 * for them, the first kept step gets fewer spans, and no later step is kept. No step is kept after
 * `steps_most` kept steps. timeline_lost counts spans that do not fit. A step is discarded unless
 * timeline_keep follows. */
enum status timeline_begin(struct timeline *t, struct error *e);
/* Keeps the spans recorded since timeline_begin as one step. */
void timeline_keep(struct timeline *t);

/* Returns the current time, clock_ns(). Returns 0 if `t` is NULL. */
int64_t timeline_now(const struct timeline *t);
void timeline_add(struct timeline *t, enum phase phase, const char *name, int64_t begin_ns,
                  int64_t end_ns);
/* Adds a span from begin_ns to the current time. */
void timeline_end(struct timeline *t, enum phase phase, const char *name, int64_t begin_ns);

/* timeline_steps: number of kept steps. timeline_lost: number of spans lost, in all steps.
 * timeline_step: the n spans of kept step i, ordered by end time. */
size_t timeline_steps(const struct timeline *t);
size_t timeline_lost(const struct timeline *t);
const struct timeline_span *timeline_step(const struct timeline *t, size_t i, size_t *n);
