/* When a rank did what, step by step: spans of time that are kept in memory until somebody asks for those of one
 * step. A span costs two readings of the clock; where there is no timeline (NULL, fine in all calls but timeline_step) none.
 * Used by one thread at a time.
 *
 * To add a phase: a row of TIMELINE_PHASES, timeline_add where it ends, its colour in plots/timeline.gp. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "kernels/base/error.h"

/* What a rank may be seen doing. PHASE(name, meaning), for the dictionary of columns. */
#define TIMELINE_PHASES(PHASE)                                                                     \
    PHASE(step, "the whole of it")                                                                 \
    PHASE(load, "gathering a batch")                                                               \
    PHASE(forward, "an op forward, or the loss")                                                   \
    PHASE(backward, "an op backward")                                                              \
    PHASE(pack, "copies, casts and sums around communication")                                     \
    PHASE(comm, "communication while nothing is computed, as comm_exposed_ms counts it")           \
    PHASE(flight, "a sum over ranks from its begin until it was seen to be complete")              \
    PHASE(bubble, "waiting for another stage of a pipeline")                                       \
    PHASE(optimizer, "update")                                                                     \
    PHASE(inject, "sleep of inject.kind")

#define PHASE_ID(name, meaning) PHASE_##name,
enum phase { TIMELINE_PHASES(PHASE_ID) PHASES };
#undef PHASE_ID

const char *const *phase_names(void);

/* [begin_ns, end_ns) by clock_ns. */
struct timeline_span {
    enum phase phase;
    const char *name; /* of what was done; borrowed: it outlives the timeline */
    int64_t begin_ns, end_ns;
};

struct timeline;

/* Keeps the spans of the first steps, `steps_most` of them or as many as `bytes_most` have room for. */
enum status timeline_open(struct timeline **timeline, size_t steps_most, size_t bytes_most,
                          struct error *e);
void timeline_close(struct timeline *t);

/* Before a step, outside of what is timed: room for twice as many spans as any step had so far, and for some
 * thousand in any case; what finds none is counted in timeline_lost. Until timeline_keep the step may be given up. Where
 * bytes_most has no such room behind the steps that are kept, neither this step is kept nor one after it. */
enum status timeline_begin(struct timeline *t, struct error *e);
/* The step since timeline_begin is one of those that are kept. */
void timeline_keep(struct timeline *t);

/* The clock; 0 where there is no timeline. */
int64_t timeline_now(const struct timeline *t);
void timeline_add(struct timeline *t, enum phase phase, const char *name, int64_t begin_ns,
                  int64_t end_ns);
/* A span that ends now. */
void timeline_end(struct timeline *t, enum phase phase, const char *name, int64_t begin_ns);

/* Steps that were kept, spans of any step that found no room, and spans [n] of step i in the order of their ends. */
size_t timeline_steps(const struct timeline *t);
size_t timeline_lost(const struct timeline *t);
const struct timeline_span *timeline_step(const struct timeline *t, size_t i, size_t *n);
