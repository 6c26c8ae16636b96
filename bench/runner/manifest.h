/* manifest.json of a run: what was run where, by which programs, in which state of the machine. */
#pragma once

#include "bench/runner/campaign.h"

/* Of a run that begins: its identity is made of the facts. */
enum status manifest_write(const char *path, const struct campaign *c, struct error *e);

/* Of one that is gone on with: adds the facts that are new and takes over those that differ, what they
 * were going to `earlier_facts`; where the spec is another one, also how
 * it was run now, what stood there going to `earlier` together with `kept`, the file that the spec
 * before is kept in; NULL: it is the same. Writes only where that changes anything. */
enum status manifest_update(const char *path, const struct campaign *c, const char *kept,
                            struct error *e);
