#include "bench/forecast/export.h"

#include <math.h>
#include <stdlib.h>

#include "bench/figures/prediction.h"
#include "bench/forecast/columns.h"
#include "bench/forecast/forecast.h"
#include "bench/runner/files.h"
#include "kernels/base/mem.h"

/* ---- Rows ---- */

#define COLUMN(id, type, unit, meaning) CSV_CELL_##type id;
struct export_row {
#include "bench/forecast/csv_export.def"
};
#undef COLUMN

#define COLUMN(id, type, unit, meaning)                                                            \
    CSV_COLUMN("export.csv", export_row, id, type, unit, meaning)
static const struct column columns[] = {
#include "bench/forecast/csv_export.def"
};
#undef COLUMN

const struct csv_file export_file = {"export.csv",
                                     "One row per exported point, printed by `scalebench export`",
                                     columns, sizeof columns / sizeof *columns};

void export_print_header(FILE *out)
{
    csv_write_header(out, &export_file);
}

/* ---- Files ---- */

struct exported {
    const struct point *point;
    struct program_list program;
    uint64_t steps;
    struct sweep_machine machine;
    double *ready_s; /* [tensors] compute time (s) until each gradient is ready */
    struct trace_step step;
};

static enum status write_goal(FILE *out, const void *arg, struct error *e)
{
    trace_write(out, TRACE_goal, &((const struct exported *)arg)->step);
    return OK;
}

static enum status write_simgrid(FILE *out, const void *arg, struct error *e)
{
    trace_write(out, TRACE_simgrid, &((const struct exported *)arg)->step);
    return OK;
}

/* Writes the list of traces for smpirun. A list with one trace applies to all ranks. */
static enum status write_list(FILE *out, const void *arg, struct error *e)
{
    fputs("trace.txt\n", out);
    return OK;
}

static enum status write_platform(FILE *out, const void *arg, struct error *e)
{
    trace_write_platform(out, &((const struct exported *)arg)->step);
    return OK;
}

static enum status write_hosts(FILE *out, const void *arg, struct error *e)
{
    trace_write_hosts(out, &((const struct exported *)arg)->step);
    return OK;
}

static const struct {
    enum trace_kind kind;
    const char *name;
    enum status (*write)(FILE *out, const void *arg, struct error *e);
} FILES[] = {
    {TRACE_goal, "trace.goal", write_goal},   {TRACE_simgrid, "trace.txt", write_simgrid},
    {TRACE_simgrid, "traces", write_list},    {TRACE_simgrid, "platform.xml", write_platform},
    {TRACE_simgrid, "hostfile", write_hosts},
};

static enum status write_files(const struct exported *x, enum trace_kind kind, const char *folder,
                               struct error *e)
{
    TRY(folder_make(folder, e));
    for (size_t i = 0; i < sizeof FILES / sizeof *FILES; i++) {
        char path[PATH_BYTES];
        TRY(path_format(path, e, "%s/%s", folder, FILES[i].name));
        if (FILES[i].kind == kind)
            TRY(file_write(path, FILES[i].write, x, e));
    }
    return OK;
}

/* ---- Points ---- */

static enum status check_point(const struct point *point, struct error *e)
{
    const struct config *c = &point->config;
    if (config_is_peer(c) || config_is_foreign(c))
        return error_set(
            e, ERR_ARGUMENT,
            "export: the MPI messages of point '%s' are unknown, because the point does not run "
            "train_cnn",
            point->label);
    if (config_int(c, OPT_PIPELINE) == 1 && config_int(c, OPT_TENSOR) == 1)
        return OK;
    return error_set(e, ERR_ARGUMENT,
                     "export: point '%s' splits its network over ranks; expected parallel.pipeline "
                     "= 1 and parallel.tensor = 1",
                     point->label);
}

/* Adds the leaf switches. ERR_ARGUMENT if they would have different numbers of hosts, which
 * SimGrid's fat trees do not support. */
static enum status add_leaves(struct exported *x, const struct export_options *options,
                              struct error *e)
{
    int hosts = node_view_of(&x->machine.hosts, 0).nodes;
    if (options->leaf_hosts > 0) {
        x->machine.leaf_hosts = options->leaf_hosts;
        x->machine.leaf_spines = options->leaf_hosts / options->oversubscription;
    }
    if (x->machine.leaf_hosts == 0 || hosts % x->machine.leaf_hosts == 0)
        return OK;
    return error_set(e, ERR_ARGUMENT, "export: %s = %d must divide the %d hosts of point '%s'",
                     options->leaf_hosts > 0 ? "--leaf-hosts" : "site.leaf_hosts",
                     x->machine.leaf_hosts, hosts, x->point->label);
}

static double compute_s(const struct exported *x, uint64_t flops_per_image)
{
    const struct config *c = &x->point->config;
    double images = ceil(config_images(c) / x->step.ranks);
    return (double)flops_per_image * images / (FORECAST_FLOP_PER_S * config_number(c, OPT_THREADS));
}

/* Finds the times at which gradients are ready, during the last backward pass of the trace. */
static enum status find_ready(struct exported *x, struct error *e)
{
    const struct net_desc *net = &x->point->net->net;
    double backward_s =
        compute_s(x, net->flops_backward) / config_number(&x->point->config, OPT_ACCUMULATE);
    TRY(MEM_NEW(x->ready_s, (size_t)net->n_tensors, "the tensors of a net", e));
    net_desc_ready(net, x->ready_s, backward_s);
    for (int i = 0; i < net->n_tensors; i++)
        x->ready_s[i] += x->step.compute_s - backward_s;
    x->step.ready_s = x->ready_s;
    return OK;
}

static enum status find_step(struct exported *x, struct error *e)
{
    const struct net_desc *net = &x->point->net->net;
    x->step = (struct trace_step){.program = &x->program,
                                  .machine = &x->machine,
                                  .ranks = (int)config_int(&x->point->config, OPT_RANKS),
                                  .flop_per_s = FORECAST_FLOP_PER_S};
    x->step.compute_s = (double)x->steps * compute_s(x, net->flops_forward + net->flops_backward);
    return find_ready(x, e);
}

/* Predicts the time of a trace: compute and communication, with or without overlap. */
static enum status sweep(double *seconds, const struct exported *x, bool overlaps, struct error *e)
{
    struct clock_sweep w;
    enum status status = clock_sweep_open(&w, &x->machine, x->step.ranks, e);
    w.ready_s = overlaps ? x->ready_s : NULL;
    for (size_t i = 0; i < x->program.n && status == OK; i++)
        reader_give(&w.reader, x->program.all[i]);
    if (status == OK)
        *seconds = overlaps ? fmax(x->step.compute_s, clock_sweep_latest_s(&w))
                            : x->step.compute_s + clock_sweep_latest_s(&w);
    clock_sweep_close(&w);
    return status;
}

static enum status print_row(FILE *out, const struct exported *x, size_t number,
                             enum trace_kind kind, const char *folder, struct error *e)
{
    struct export_row row = {.number = (double)number,
                             .label = x->point->label,
                             .ranks = x->step.ranks,
                             .hosts = node_view_of(&x->machine.hosts, 0).nodes,
                             .steps = (double)x->steps,
                             .compute_s = x->step.compute_s,
                             .folder = folder};
    TRY(sweep(&row.sweep_s, x, trace_overlaps(kind), e));
    csv_write_row(out, &export_file, &row);
    return OK;
}

static enum status export_to(FILE *out, struct exported *x, size_t number,
                             const struct export_options *options, const char *folder,
                             struct error *e)
{
    TRY(check_point(x->point, e));
    x->machine = forecast_machine(&x->point->config);
    x->machine.receives_freely = false;
    x->machine.burst_s = 0;
    TRY(add_leaves(x, options, e));
    TRY(prediction_program(&x->steps, &x->program, x->point, sizeof(float), &x->machine, e));
    TRY(find_step(x, e));
    TRY(write_files(x, options->kind, folder, e));
    return print_row(out, x, number, options->kind, folder, e);
}

enum status export_point(FILE *out, const struct spec *spec, size_t number,
                         const struct export_options *options, const char *folder, struct error *e)
{
    struct exported x = {.point = &spec->points[number - 1]};
    enum status status = export_to(out, &x, number, options, folder, e);
    program_list_free(&x.program);
    free(x.ready_s);
    return status;
}
