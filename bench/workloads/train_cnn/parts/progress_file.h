/* DIR/progress: how far a segment of an elastic run is, for whoever begins it again when it is killed.
 * One line of JSON, of one length, which a write of its own replaces after each step, outside of the timed
 * part:
 *
 *   {"resumed": 40, "steps": 57, "epoch": 2, "first_step_at_s": 1764000000.123, "last_step_at_s": ...}
 *
 * resumed: steps that were done when it began; steps: those that are done; epoch: whole ones; the two times are
 * the ends of its first and of its last step so far, since 1970, 0 where there is none. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "kernels/base/error.h"

/* Zeroed: nothing is told. */
struct progress_file {
    bool open;
    int fd;
    uint64_t resumed;
    double first_s, last_s;
};

/* Of a run that begins after so many steps, in `epoch`. ERR_SYSTEM where the file cannot be written. */
enum status progress_file_open(struct progress_file *f, const char *dir, uint64_t steps_done,
                               uint32_t epoch, struct error *e);

/* After a step (`stepped`), and after an epoch's evaluation. What cannot be written any more is not told: training
 * goes on. */
void progress_file_write(struct progress_file *f, uint64_t steps_done, uint32_t epoch,
                         bool stepped);

void progress_file_close(struct progress_file *f);
