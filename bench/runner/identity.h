/* What makes two campaigns the same one, to be gone on with: the resolved spec and the networks it
 * names, the programs' contents and what peers stand on, the kind of machine. */
#ifndef SCALEBENCH_RUNNER_IDENTITY_H
#define SCALEBENCH_RUNNER_IDENTITY_H

#include <stddef.h>
#include <stdint.h>

#include "bench/place/place.h"
#include "bench/spec/spec.h"
#include "kernels/base/error.h"

struct identity {
    char hex[65];  /* SHA-256 */
    uint64_t seed; /* its first 64 bits: of the schedule */
};

struct identity_parts {
    const struct spec *spec;
    struct place_machine machine;
    const char *link;            /* what joins the hosts of an emulated site, or NULL */
    const char *const *programs; /* NULL-terminated paths whose contents count */
    const char *answers;         /* what peers stand on; NULL: there is none */
};

enum status identity_make(struct identity *identity, const struct identity_parts *parts,
                          struct error *e);

#endif
