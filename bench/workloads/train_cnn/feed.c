#include "bench/workloads/train_cnn/feed.h"

#include <stdlib.h>

#include "kernels/base/clock.h"
#include "kernels/base/mem.h"

enum status feed_open(struct feed *f, const struct config *config, struct waiter *waiter,
                      MPI_Comm comm, struct error *e)
{
    *f = (struct feed){0};
    int64_t begin_ns = clock_ns();
    TRY(reader_open(&f->reader, config, waiter, comm, e));
    f->read_s = clock_seconds_since(begin_ns);
    return OK;
}

void feed_close(struct feed *f)
{
    reader_close(&f->reader);
    free(f->needs);
    f->needs = NULL;
}

/* Returns whether samples must be fetched for `epoch`. The result is equal on every rank, as the
 * collective fetch requires. */
static bool is_due(const struct feed *f, const struct sampler *s, uint32_t epoch)
{
    if (!reader_shares(&f->reader))
        return false;
    bool dealt_anew = s->shuffle && s->shard == SHARD_global;
    return f->fetches == 0 || (dealt_anew && epoch != f->epoch);
}

enum status feed_epoch(struct feed *f, struct sampler *sampler, uint32_t epoch, struct error *e)
{
    if (!is_due(f, sampler, epoch))
        return OK;
    int64_t begin_ns = clock_ns();
    if (f->needs == NULL)
        TRY(MEM_NEW(f->needs, sampler->n_own, "a list of samples", e));
    uint32_t n = sampler_needs(sampler, epoch, f->needs);
    TRY(reader_fetch(&f->reader, f->needs, n, e));
    double seconds = clock_seconds_since(begin_ns);
    f->read_s += f->fetches == 0 ? seconds : 0;
    f->fetch_s += seconds;
    f->fetches++;
    f->epoch = epoch;
    return OK;
}
