/* manifest.json of a run: what was run where, by which programs, in which state of the machine. */
#pragma once

#include "bench/place/place.h"
#include "bench/runner/facts.h"
#include "bench/runner/tools.h"
#include "kernels/base/error.h"

struct manifest {
    const json_t *facts;
    const char *spec;     /* path as given */
    const char *set;      /* or NULL */
    char *const *command; /* NULL-terminated */
    const struct tools *tools;
    struct place_machine machine;
    char link[LINK_BYTES]; /* as sites_link says it, or "" */
};

/* Of a run that begins: its identity is made of the facts. */
enum status manifest_write(const char *path, const struct manifest *manifest, struct error *e);

/* Of one that is gone on with: adds the facts that are new and takes over those that differ, what they
 * were going to `earlier_facts`; where the spec is another one, also how
 * it was run now, what stood there going to `earlier` together with `kept`, the file that the spec
 * before is kept in; NULL: it is the same. Writes only where that changes anything. */
enum status manifest_update(const char *path, const struct manifest *manifest, const char *kept,
                            struct error *e);
