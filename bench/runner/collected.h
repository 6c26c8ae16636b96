/* Copies runs of other people to folders by class of hardware, so that machines can be compared.
 *
 * A run is filed as <out>/collected/<campaign>/<class>/<time>-<digits>: time of the run's start and
 * first digits of its identity (runs.h). Records of launches are not copied. */
#pragma once

#include <stdio.h>

#include "bench/runner/tools.h"

struct collected {
    char **campaigns; /* [n] names of the campaigns of all runs found, each owned */
    size_t n;
};

/* Copies the runs in `source`, a folder or an archive of `make artifact`. Searches at most three
 * levels of folders below `source`. Also copies runs from archives in the folder or one level
 * below. A run that `out` already contains is left unchanged. Prints one line per run to `report`:
 * its folder, or why it is left out. ERR_ARGUMENT if there is no run, ERR_DATA if tar cannot
 * extract an archive. Call collected_free in any case. */
enum status collected_add(struct collected *c, const char *source, const char *out, FILE *report,
                          struct error *e);
void collected_free(struct collected *c);

/* Draws the figures of a collected campaign into <out>/collected/<campaign>/figures. Each class of
 * hardware has its own curves or bars, from the class's newest run. Prints one line to `report`.
 * Draws nothing if there is only one class, or the spec has no figures. */
enum status collected_draw(const char *campaign, const char *out, const struct tools *tools,
                           FILE *report, struct error *e);
