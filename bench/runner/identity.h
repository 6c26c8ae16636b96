/* What makes two campaigns the same one, to be gone on with: the resolved spec and the networks it
 * names, the programs' contents, what they say of instruction set, libraries and data, or peers of
 * what they stand on, and the kind of machine. */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

#include "bench/place/place.h"
#include "bench/runner/workloads.h"
#include "bench/spec/spec.h"
#include "kernels/base/error.h"

struct identity_program {
    const char *path; /* borrowed */
    char hex[65];     /* SHA-256 of its contents */
    struct stat seen; /* when they were read */
};

struct identity {
    char hex[65];  /* SHA-256 */
    uint64_t seed; /* its first 64 bits: of the schedule */
    struct identity_program programs[2 * WORKLOADS + 1];
    size_t n_programs;
};

struct identity_parts {
    const struct spec *spec;
    struct place_machine machine;
    const char *link;            /* what joins the hosts of an emulated site, or NULL */
    const char *const *programs; /* NULL-terminated paths whose contents count */
    const char *answers;         /* of the workloads; NULL: there is none */
};

enum status identity_make(struct identity *identity, const struct identity_parts *parts,
                          struct error *e);

/* ERR_DATA, saying what it was and is, when a program is no longer the one that was identified. Of
 * files that were not touched nothing is read. */
enum status identity_check(struct identity *identity, struct error *e);
