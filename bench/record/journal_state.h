/* Applies the lines of a journal to its lists in memory. Internal to the journal. */
#pragma once

#include <jansson.h>

#include "bench/record/journal.h"

/* Values of "run" (indexed by enum launch_run) and "status" (by enum launch_status) in the
 * journal. */
extern const char *const journal_runs[RUN_ACCURACY + 1];
extern const char *const journal_statuses[LAUNCH_DIVERGED + 1];

/* Adds the known results of a launch, including the values of noise.def, to a line "done". */
void journal_write_numbers(json_t *line, const struct journal_launch *ended);

/* Returns the launch whose folder is `name`, such as "launches/1a2b3c4d5e6f/time-003"; NULL if
 * there is none. */
struct journal_launch *journal_find_launch(struct journal *j, const char *name);

/* Applies one line of the journal file to the state in *j. ERR_DATA with the reason if the line is
 * not valid; ERR_MEMORY if memory runs out. */
enum status journal_take_line(struct journal *j, const json_t *line, struct error *e);

/* Sets `outdated` of the launches of a point, or of all points if `point` is NULL: true if a launch
 * has a key other than its point's current key. */
void journal_find_outdated(struct journal *j, const char *point);
