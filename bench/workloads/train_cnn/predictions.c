#include "bench/workloads/train_cnn/predictions.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/base/mem.h"

enum status predictions_open(struct trainer *t, struct error *e)
{
    return MEM_NEW(t->predictions, t->data->test.n, "the predictions", e);
}

void predictions_close(struct trainer *t)
{
    free(t->predictions);
    t->predictions = NULL;
}

static enum status write_lines(const struct trainer *t, const char *path, struct error *e)
{
    FILE *out = fopen(path, "w");
    if (out == NULL)
        return error_at(e, ERR_SYSTEM, path, 0, 0, "cannot be written: %s", strerror(errno));
    bool failed = false;
    for (uint32_t i = 0; i < t->data->test.n; i++)
        failed |= fprintf(out, "%d\n", t->predictions[i]) < 0;
    if (fclose(out) != 0 || failed)
        return error_at(e, ERR_SYSTEM, path, 0, 0, "cannot be written in full: %s",
                        strerror(errno));
    return OK;
}

enum status predictions_write(struct trainer *t, const char *path, struct error *e)
{
    /* Each rank has filled its own share; the rest is 0. */
    TRY(wait_allreduce(t->waiter, t->predictions, t->data->test.n, MPI_INT, MPI_SUM, t->comm,
                       "collection of the predictions", e));
    return t->rank == 0 ? write_lines(t, path, e) : OK;
}
