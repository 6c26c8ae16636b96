/* The spec that a run's folder keeps. */
#pragma once

#include "bench/spec/spec.h"
#include "kernels/base/error.h"

/* What the spec of a campaign here needs to know. */
enum status machine_here(struct spec_machine *machine, struct error *e);

/* Loads a spec with the cores of this machine, which matter to one that says `ranks: auto`. */
enum status spec_load_here(struct spec *spec, const char *path, const char *set, struct error *e);

/* Loads <run_dir>/spec.yaml; ERR_ARGUMENT where there is none. Freed with spec_free in any case. */
enum status run_spec_load(struct spec *spec, const char *run_dir, const char *set, struct error *e);
