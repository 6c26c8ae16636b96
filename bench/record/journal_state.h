/* What a journal holds in memory, and how each line changes it. Internal to the journal. */
#pragma once

#include <jansson.h>

#include "bench/record/journal.h"

/* As lines name them. */
extern const char *const journal_runs[RUN_ACCURACY + 1];
extern const char *const journal_statuses[LAUNCH_DIVERGED + 1];

/* Adds the numbers that a line `done` has of a launch, the rows of noise.def among them; unknown ones are left out. */
void journal_write_numbers(json_t *line, const struct journal_launch *ended);

/* By its folder; NULL where there is none. */
struct journal_launch *journal_find_launch(struct journal *j, const char *name);

/* Takes a line into the lists. ERR_DATA says what is wrong with it, ERR_MEMORY. */
enum status journal_take_line(struct journal *j, const json_t *line, struct error *e);

/* Finds which launches, of one point or (NULL) of all, are of another key than that of their point. */
void journal_find_outdated(struct journal *j, const char *point);
