#include <glob.h>
#include <stdlib.h>
#include <string.h>

#include "bench/collect/collect.h"
#include "bench/runner/commands.h"
#include "bench/spec/spec.h"
#include "kernels/base/names.h"

static enum status print_row(FILE *out, const char *name, const char *summary)
{
    fprintf(out, "%-14s %s\n", name, summary);
    return OK;
}

/* One row a line of a .def list. */
static enum status list_strategies(const struct tools *tools, FILE *out, struct error *e)
{
    (void)tools, (void)e;
#define STRATEGY(name, flags, source, summary) print_row(out, #name, summary);
#include "comm/cost/strategies.def"
#undef STRATEGY
    return OK;
}

static enum status list_sites(const struct tools *tools, FILE *out, struct error *e)
{
    (void)tools, (void)e;
#define SITE(name, summary) print_row(out, #name, summary);
#include "bench/spec/sites.def"
#undef SITE
    return OK;
}

static enum status list_optimizers(const struct tools *tools, FILE *out, struct error *e)
{
    (void)tools, (void)e;
#define OPTIMIZER(name, summary) print_row(out, #name, summary);
#include "kernels/desc/optimizers.def"
#undef OPTIMIZER
    return OK;
}

static enum status list_figures(const struct tools *tools, FILE *out, struct error *e)
{
    (void)tools, (void)e;
#define FIGURE(name, summary) print_row(out, #name, summary);
#include "bench/spec/figures.def"
#undef FIGURE
    return OK;
}

static enum status list_data_sets(const struct tools *tools, FILE *out, struct error *e)
{
    (void)tools, (void)e;
#define DATA_SET(name, summary) print_row(out, #name, summary);
#include "bench/spec/data_sets.def"
#undef DATA_SET
    return OK;
}

static enum status list_columns(const struct tools *tools, FILE *out, struct error *e)
{
    (void)tools, (void)e;
    columns_print(out);
    return OK;
}

static enum status list_models(const struct tools *tools, FILE *out, struct error *e)
{
    char pattern[PATH_BYTES];
    glob_t files;
    enum status status = path_format(pattern, e, "%s/configs/models/*.yaml", tools->home);
    if (status != OK)
        return status;
    int found = glob(pattern, 0, NULL, &files);
    if (found == GLOB_NOMATCH)
        return error_at(e, ERR_DATA, pattern, 0, 0, "no networks here");
    if (found != 0)
        return error_at(e, ERR_SYSTEM, pattern, 0, 0, "cannot read this folder");
    for (size_t i = 0; status == OK && i < files.gl_pathc; i++) {
        struct net_desc net;
        char shape[40];
        status = model_load(&net, files.gl_pathv[i], e);
        if (status != OK)
            break;
        fprintf(out, "%-14s %zu parameters, %s to %d classes, %d layers\n", net.name, net.n_params,
                shape_text(shape, net.input), net.classes, net.n_layers);
        net_desc_free(&net);
    }
    globfree(&files);
    return status;
}

static const char *const kinds[] = {"models",     "strategies", "sites",    "columns",
                                    "optimizers", "figures",    "data_sets"};
#define N_KINDS (sizeof kinds / sizeof *kinds)

enum status command_list(const struct arguments *arguments, const struct tools *tools, FILE *out,
                         int *exit_status, struct error *e)
{
    static enum status (*const lists[N_KINDS])(const struct tools *, FILE *, struct error *) = {
        list_models,     list_strategies, list_sites,    list_columns,
        list_optimizers, list_figures,    list_data_sets};
    (void)exit_status;
    const char *kind = arguments->operand;
    char text[512];
    int i = name_index(kind, kinds, N_KINDS);
    if (i < 0)
        return error_set(e, ERR_ARGUMENT, "list: %s",
                         name_explain(text, sizeof text, kind, kinds, N_KINDS));
    return lists[i](tools, out, e);
}

static enum status unknown_option(const char *key, struct error *e)
{
    const char *keys[OPTION_COUNT];
    for (int i = 0; i < OPTION_COUNT; i++)
        keys[i] = option_get((enum option_id)i)->key;
    const char *nearest = name_nearest(key, keys, OPTION_COUNT);
    return error_set(e, ERR_ARGUMENT,
                     "explain: '%s' is not an option of a spec%s%s%s; "
                     "`scalebench explain` lists them",
                     key, nearest ? "; nearest '" : "", nearest ? nearest : "", nearest ? "'" : "");
}

enum status command_explain(const struct arguments *arguments, const struct tools *tools, FILE *out,
                            int *exit_status, struct error *e)
{
    (void)tools, (void)exit_status;
    const char *key = arguments->operand;
    if (key) {
        const struct spec_option *option = option_find(key);
        if (!option)
            return unknown_option(key, e);
        option_explain(out, option);
        return OK;
    }
    for (int i = 0; i < OPTION_COUNT; i++) {
        const struct spec_option *option = option_get((enum option_id)i);
        fprintf(out, "%-30s %s\n", option->key, option->help);
    }
    return OK;
}

enum status command_model(const struct arguments *arguments, const struct tools *tools, FILE *out,
                          int *exit_status, struct error *e)
{
    (void)tools, (void)exit_status;
    struct net_desc net;
    enum status status = model_load(&net, arguments->operand, e);
    if (status != OK)
        return status;
    net_desc_print(out, &net);
    net_desc_free(&net);
    return OK;
}
