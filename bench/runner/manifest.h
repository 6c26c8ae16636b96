/* manifest.json of a run: programs, machine, facts and state of the machine. */
#pragma once

#include "bench/runner/campaign.h"

/* Writes the manifest of a new run, whose identity is the digest of its facts. */
enum status manifest_write(const char *path, const struct campaign *c, struct error *e);

/* Updates the manifest of a resumed run. Changed facts replace the old values, which move to
 * `earlier_facts`. If the spec changed, the current command replaces the old one, which moves to
 * `earlier`. `kept` is the file of the earlier spec, NULL if the spec is the same. The file is
 * written only if it changes. */
enum status manifest_update(const char *path, const struct campaign *c, const char *kept,
                            struct error *e);
