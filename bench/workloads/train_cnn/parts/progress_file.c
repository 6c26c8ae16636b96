#include "bench/workloads/train_cnn/parts/progress_file.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "kernels/base/clock.h"

/* Writes the line over the previous one. Returns false if that fails. */
static bool write_line(const struct progress_file *f, uint64_t steps_done, uint32_t epoch)
{
    char line[256];
    int n = snprintf(line, sizeof line,
                     "{\"resumed\": %10" PRIu64 ", \"steps\": %10" PRIu64 ", \"epoch\": %7" PRIu32
                     ", \"first_step_at_s\": %18.6f, "
                     "\"last_step_at_s\": %18.6f}\n",
                     f->resumed, steps_done, epoch, f->first_s, f->last_s);
    return pwrite(f->fd, line, (size_t)n, 0) == n;
}

enum status progress_file_open(struct progress_file *f, const char *dir, uint64_t steps_done,
                               uint32_t epoch, struct error *e)
{
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/progress", dir);
    *f = (struct progress_file){.fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666),
                                .resumed = steps_done};
    f->open = f->fd >= 0;
    if (!f->open || !write_line(f, steps_done, epoch))
        return error_at(e, ERR_SYSTEM, path, 0, 0, "%s", strerror(errno));
    return OK;
}

void progress_file_write(struct progress_file *f, uint64_t steps_done, uint32_t epoch, bool stepped)
{
    if (!f->open)
        return;
    if (stepped)
        f->last_s = clock_date_s();
    if (stepped && f->first_s == 0)
        f->first_s = f->last_s;
    write_line(f, steps_done, epoch);
}

void progress_file_close(struct progress_file *f)
{
    if (f->open)
        close(f->fd);
    f->open = false;
}
