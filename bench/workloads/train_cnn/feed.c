#include "bench/workloads/train_cnn/feed.h"

#include <stdlib.h>

#include "kernels/base/clock.h"

static double seconds_since(int64_t begin_ns)
{
    return 1e-9 * (double)(clock_ns() - begin_ns);
}

enum status feed_open(struct feed *f, const struct config *config, struct waiter *waiter,
                      MPI_Comm comm, struct error *e)
{
    *f = (struct feed){0};
    const struct reader_options options = {
        .kind = (enum read_kind)config_int(config, OPT_DATA_READ),
        .set = config_text(config, OPT_DATA_SET),
        .path = config_text(config, OPT_DATA_PATH),
        .name = config_text(config, OPT_DATA_NAME),
        .samples = (uint32_t)config_int(config, OPT_DATA_SAMPLES),
        .comm = comm,
        .waiter = waiter,
    };
    int64_t begin_ns = clock_ns();
    enum status status = reader_open(&f->reader, &options, e);
    f->read_s = seconds_since(begin_ns);
    return status;
}

void feed_close(struct feed *f)
{
    reader_close(&f->reader);
    free(f->needs);
    f->needs = NULL;
}

/* The same on every rank, because fetching is collective. */
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
        f->needs = malloc(sampler->n_own * sizeof *f->needs);
    if (f->needs == NULL)
        return error_set(e, ERR_MEMORY, "no memory for a list of %u samples", sampler->n_own);
    uint32_t n = sampler_needs(sampler, epoch, f->needs);
    TRY(reader_fetch(&f->reader, f->needs, n, e));
    double seconds = seconds_since(begin_ns);
    f->read_s += f->fetches == 0 ? seconds : 0;
    f->fetch_s += seconds;
    f->fetches++;
    f->epoch = epoch;
    return OK;
}
