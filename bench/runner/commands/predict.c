/* `scalebench predict`: predicts the step times of measured points and prints the errors
 * (cross_validation.h). */

#include "bench/compare/operand.h"
#include "bench/forecast/cross_validation.h"
#include "bench/runner/commands/commands.h"
#include "bench/runner/commands/with_tables.h"
#include "kernels/base/names.h"

static const struct {
    const char *name;
    cross_validation_writer *writer;
} formats[] = {
#define PREDICT_FORMAT(name, writer, meaning) {#name, writer},
#include "bench/forecast/predict_formats.def"
};
#define N_FORMATS (sizeof formats / sizeof *formats)

/* Finds the folders of the runs that the user gave. If the user gave none, finds all runs in
 * results/reference except views, which show another run's table. */
static enum status find_runs(struct with_tables *found, const struct arguments *a, struct error *e)
{
    char path[PATH_BYTES];
    if (a->n_operands == 0)
        return with_tables_committed(found, a->tools, e);
    for (size_t i = 0; i < a->n_operands; i++) {
        TRY(operand_find(path, a->operands[i], a->out, a->tools->home, e));
        TRY(with_tables_add(found, path, e));
    }
    return OK;
}

enum status command_predict(const struct arguments *a, FILE *out, int *exit_status, struct error *e)
{
    struct with_tables runs = {.n = 0};
    struct cross_validation c = {.n_runs = 0};
    int index;
    TRY(option_row("format", a->format != NULL ? a->format : formats[0].name, formats, N_FORMATS,
                   sizeof *formats, &index, e));
    enum status status = find_runs(&runs, a, e);
    THEN(status, cross_validation_make(&c, (const char *const *)runs.folders, runs.n, e));
    if (status == OK && c.n_points == 0)
        status = error_set(e, ERR_ARGUMENT,
                           "predict: nothing to predict. Expected a run with measured steps of an "
                           "exact strategy, one core per rank, and compute times (from a "
                           "calibration or from strategy none)");
    if (status == OK)
        formats[index].writer(out, &c);
    cross_validation_free(&c);
    with_tables_free(&runs);
    return status;
}
