/* Writes manifest.json of a run: its command, programs, machine, facts and kernel settings. */
#pragma once

#include "bench/runner/campaign.h"

/* Writes the manifest of a new run. The run's identity is the SHA-256 of its facts (facts.h). */
enum status manifest_write(const char *path, const struct campaign *c, struct error *e);

/* Updates the manifest of a resumed run if the spec or a fact changed. Earlier values of facts move
 * to key `earlier_facts`. If the spec changed, the earlier command moves to key `earlier`. `kept`:
 * file with the earlier spec; NULL if the spec is unchanged. */
enum status manifest_update(const char *path, const struct campaign *c, const char *kept,
                            struct error *e);
