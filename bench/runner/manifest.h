/* manifest.json of a run: what was run where, by which programs, in which state of the machine. */
#pragma once

#include "bench/place/place.h"
#include "bench/runner/identity.h"
#include "bench/runner/tools.h"
#include "bench/runner/workloads.h"
#include "kernels/base/error.h"

struct manifest {
    const struct identity *identity;
    const struct workloads *workloads;
    const char *spec;     /* path as given */
    const char *set;      /* or NULL */
    char *const *command; /* NULL-terminated */
    const struct tools *tools;
    struct place_machine machine;
    const char *link; /* what joins the hosts of an emulated site, or NULL */
};

enum status manifest_write(const char *path, const struct manifest *manifest, struct error *e);

/* What a manifest says of the run it lies beside; false when there is none to read. */
struct manifest_facts {
    char identity[65];
    char revision[64];
};
bool manifest_read(const char *run_dir, struct manifest_facts *facts);
