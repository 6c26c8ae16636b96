/* What a journal holds in memory, and how each line changes it: the reader of lines and their writer do so alike.
 * Internal to the journal. Errors are of memory. */
#pragma once

#include <jansson.h>
#include <sys/types.h>

#include "bench/record/journal.h"

/* As lines name them. */
extern const char *const journal_runs[RUN_ACCURACY + 1];
extern const char *const journal_statuses[LAUNCH_DIVERGED + 1];

/* Numbers that a line `done` has of a launch, the rows of noise.def among them; unknown ones are left out. */
void journal_read_numbers(struct journal_launch *ended, const json_t *line);
void journal_write_numbers(json_t *line, const struct journal_launch *ended);

/* ---- Lists ---- */

enum status journal_add_launch(struct journal *j, const struct journal_launch *launch,
                               struct error *e);
enum status journal_add_skip(struct journal *j, const struct journal_skip *skip, struct error *e);
void journal_forget_skip(struct journal *j, const char *point);

/* An empty block with room for n points, which are added to it. */
enum status journal_add_block(struct journal *j, int block, size_t n, struct error *e);
void journal_add_point(struct journal *j, const char *point);

/* NULL where the point has none. */
struct journal_key *journal_find_key(const struct journal *j, const char *point);
enum status journal_set_key(struct journal *j, const char *point, const char *name,
                            struct error *e);

/* ---- Launches ---- */

/* What is known of one that runs. */
extern const struct journal_launch journal_not_ended;

/* By its folder; NULL where there is none. */
struct journal_launch *journal_find_launch(struct journal *j, const char *name);
/* Fills in whether it is of another key than this one of its point. */
void journal_find_outdated(struct journal_launch *launch, const struct journal_key *key);
/* Takes over what is known from the end of a launch on. */
void journal_end_launch(struct journal_launch *launch, const struct journal_launch *ended);
/* As if it had not ended, where it is done; one that failed is kept as such, and was tried again. */
void journal_take_back(struct journal *j, struct journal_launch *launch);

/* ---- The file ---- */

/* Reads the lines of j->path into the lists; no file is an empty journal. *good is the number of bytes up to
 * the end of the last whole line. ERR_DATA at a line that is none of a journal. */
enum status journal_read(struct journal *j, off_t *good, struct error *e);
