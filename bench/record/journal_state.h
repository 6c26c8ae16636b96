/* Lists of a journal in memory, and how each line changes them. Internal to the journal. */
#pragma once

#include <jansson.h>

#include "bench/record/journal.h"

/* Names in the lines of the journal. */
extern const char *const journal_runs[RUN_ACCURACY + 1];
extern const char *const journal_statuses[LAUNCH_DIVERGED + 1];

/* Adds the known results of a launch, including noise.def, to a line `done`. */
void journal_write_numbers(json_t *line, const struct journal_launch *ended);

/* Returns the launch of a folder, NULL if there is none. */
struct journal_launch *journal_find_launch(struct journal *j, const char *name);

/* Applies a line to the lists. ERR_DATA with the reason if the line is wrong; ERR_MEMORY. */
enum status journal_take_line(struct journal *j, const json_t *line, struct error *e);

/* Marks the launches whose key differs from their point's current key as outdated. `point` NULL:
 * all points. */
void journal_find_outdated(struct journal *j, const char *point);
