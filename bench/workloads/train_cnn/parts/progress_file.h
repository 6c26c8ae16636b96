/* Writes the numbers of steps and epochs done to DIR/progress, for the program that restarts an
 * elastic run after a kill. The file is one line of JSON of fixed length, replaced by a single
 * write:
 *
 *   {"resumed": 40, "steps": 57, "epoch": 2, "first_step_at_s": 1764000000.123,
 *    "last_step_at_s": 1764000031.456}
 *
 * resumed: steps done when the current attempt began. steps: steps done now. epoch: complete
 * epochs. Times: ends of the attempt's first and latest step (seconds since 1970); 0 before the
 * first step. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "kernels/base/error.h"

/* A progress file. If the struct is all zero, no file is open and writes do nothing. */
struct progress_file {
    bool open;
    int fd;
    uint64_t resumed;
    double first_s, last_s;
};

/* Creates the file for an attempt. `steps_done`, `epoch`: steps and complete epochs done when the
 * attempt begins. ERR_SYSTEM if the file cannot be written. */
enum status progress_file_open(struct progress_file *f, const char *dir, uint64_t steps_done,
                               uint32_t epoch, struct error *e);

/* Updates the file after a step (`stepped` is true) or after an epoch's evaluation. Write errors
 * are ignored, so that training continues. */
void progress_file_write(struct progress_file *f, uint64_t steps_done, uint32_t epoch,
                         bool stepped);

void progress_file_close(struct progress_file *f);
