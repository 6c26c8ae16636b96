/* Main program of kernel_sweep, which times the ops and layers of a network; see sweep.h. */
#include <string.h>

#include "bench/base/descriptors.h"
#include "bench/spec/spec.h"
#include "bench/workloads/sweeps/file.h"
#include "bench/workloads/sweeps/kernel/sweep.h"
#include "kernels/base/fp_mode.h"

static bool has_layer(const struct net_desc *desc, const char *name)
{
    for (int i = 0; i < desc->n_layers; i++)
        if (strcmp(desc->layers[i].name, name) == 0)
            return true;
    return false;
}

static enum status check_layer(const struct net_desc *desc, const char *option, const char *name,
                               struct error *e)
{
    if (name == NULL || has_layer(desc, name))
        return OK;
    return error_set(e, ERR_ARGUMENT,
                     "%s: model %s has no layer '%s'; `scalebench model %s` lists all layers",
                     option, desc->name, name, desc->name);
}

static enum status sweep_parts(struct sweep *s, struct error *e)
{
    const struct sweep_options *o = s->options;
    TRY(check_layer(s->desc, "--layer", o->layer, e));
    TRY(check_layer(s->desc, "--spoil", o->spoil, e));
    TRY(peaks_measure(&s->peaks, o, e));
    csv_write_header(s->out, &sweep_files[SWEEP_KERNELS]);
    if (o->ops)
        TRY(sweep_ops(s, e));
    return o->layers ? sweep_layers(s, e) : OK;
}

static enum status sweep_model(struct sweep *s, struct error *e)
{
    struct net_desc desc;
    TRY(model_load(&desc, s->options->model, e));
    s->desc = &desc;
    enum status status = sweep_parts(s, e);
    net_desc_free(&desc);
    return status;
}

static enum status sweep(const struct sweep_options *options, int *exit_status, struct error *e)
{
    struct sweep_file file;
    fp_mode_set();
    gemm_init();
    TRY(sweep_file_open(&file, options->record, "kernels.csv", e));
    struct sweep s = {.options = options, .out = file.out};
    enum status status = sweep_model(&s, e);
    TRY(sweep_file_close(&file, status, e));
    *exit_status = s.wrong > 0 ? 1 : 0;
    if (s.wrong > 0)
        fprintf(stderr, "kernel_sweep: %d results exceed their bound\n", s.wrong);
    return OK;
}

int main(int argc, char **argv)
{
    struct sweep_options options;
    struct error e = {0};
    int exit_status = 0;
    descriptors_open_standard();
    enum status status = options_parse(&options, argc, argv, &e);
    if (status == OK && options.help)
        options_help(stdout);
    else if (status == OK)
        status = sweep(&options, &exit_status, &e);
    config_free(&options.config);
    if (status == OK)
        return descriptors_end_output("kernel_sweep", exit_status);
    fputs("kernel_sweep: ", stderr);
    error_print(stderr, &e);
    return error_exit_status(&e);
}
