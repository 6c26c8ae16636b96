/* Writes manifest.json of a run: its command, programs, machine, facts and kernel settings. */
#pragma once

#include "bench/runner/campaign.h"

/* Writes the manifest of a new run. The run's identity is the digest of its facts. */
enum status manifest_write(const char *path, const struct campaign *c, struct error *e);

/* Updates the manifest of a resumed run. Earlier values of changed facts move to `earlier_facts`.
 * If the spec changed, the earlier command moves to `earlier`; `kept` is then the name of the
 * earlier spec's file, else NULL. The file is written only if the spec or a fact changed. */
enum status manifest_update(const char *path, const struct campaign *c, const char *kept,
                            struct error *e);
