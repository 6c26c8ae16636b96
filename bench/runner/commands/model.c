/* `scalebench model`: prints a network layer by layer, or compares it with a published summary. */
#include <stdio.h>
#include <string.h>

#include "bench/record/csv_reader.h"
#include "bench/runner/commands/commands.h"
#include "bench/spec/find.h"
#include "bench/spec/spec.h"

/* ---- Comparison with a published summary ---- */

/* Published table of layers, with the indices of its columns. `ours`: column with the name of
 * scalebench's layer; an empty cell means that scalebench has no such layer. */
struct summary {
    struct csv_table table;
    size_t layer, output, params, ours;
};

static enum status read_columns(struct summary *s, struct error *e)
{
    const struct csv_wanted wanted[] = {{"layer", &s->layer},
                                        {"output_shape", &s->output},
                                        {"params", &s->params},
                                        {"ours", &s->ours}};
    return csv_table_columns(&s->table, wanted, sizeof wanted / sizeof *wanted, e);
}

/* Reads a published table, given by path or by its name in results/published. */
static enum status read_summary(struct summary *s, const char *name, const struct tools *tools,
                                struct error *e)
{
    char path[PATH_BYTES];
    static const char *const here[] = {"", NULL}, *const shared[] = {"results/published/", NULL};
    struct near_file near = {.distance = 0};
    snprintf(path, sizeof path, "%s", name);
    if (!path_exists(path))
        TRY(path_format(path, e, "%s/%s%s", tools->home, shared[0], name));
    if (!path_exists(path)) {
        find_near(&near, ".", here, name);
        find_near(&near, tools->home, shared, name);
        return error_set(e, ERR_ARGUMENT,
                         "--published: '%s' not found in the current folder or results/published%s",
                         name, near.text);
    }
    TRY(csv_table_read(&s->table, path, e));
    if (read_columns(s, e) == OK)
        return OK;
    return error_at(e, e->status, path, 0, 0,
                    "--published: expected a CSV file with one row per layer of a network, such as "
                    "results/published/wang_yang_model.csv: %s",
                    e->text);
}

static const struct layer_desc *find_layer(const struct net_desc *net, const char *name)
{
    for (int i = 0; i < net->n_layers; i++)
        if (strcmp(net->layers[i].name, name) == 0)
            return &net->layers[i];
    return NULL;
}

static enum status unknown_layer(const struct summary *s, size_t row, const struct net_desc *net,
                                 struct error *e)
{
    return error_at(
        e, ERR_DATA, s->table.path, s->table.lines[row], 0,
        "column ours: layer '%s' not found in network %s; `scalebench model %s` lists the layers",
        csv_table_cell(&s->table, row, s->ours), net->name, net->name);
}

/* Prints a published layer beside scalebench's layer. Sets *differs if the two numbers of
 * parameters differ. */
static enum status print_row(FILE *out, const struct summary *s, size_t row,
                             const struct net_desc *net, bool *differs, struct error *e)
{
    const char *ours = csv_table_cell(&s->table, row, s->ours);
    const struct layer_desc *layer = find_layer(net, ours);
    char shape[40] = "", params[32] = "";
    double theirs;
    size_t count = net->n_params;
    bool total = strcmp(ours, "total") == 0;
    TRY(csv_table_number(&s->table, row, s->params, &theirs, e));
    if (layer == NULL && !total && ours[0] != '\0')
        return unknown_layer(s, row, net, e);
    if (layer != NULL) {
        count = net_layer_params(net, layer);
        shape_text(shape, layer->out);
    }
    bool other = (layer != NULL || total) && theirs != (double)count;
    *differs = *differs || other;
    if (layer != NULL || total)
        snprintf(params, sizeof params, "%zu", count);
    fprintf(out, "%-20s  %-20s  %10s  %-12s  %-14s  %10s%s\n",
            csv_table_cell(&s->table, row, s->layer), csv_table_cell(&s->table, row, s->output),
            csv_table_cell(&s->table, row, s->params), ours, shape, params,
            other ? "  differs" : "");
    return OK;
}

static enum status print_beside(FILE *out, const struct summary *s, const struct net_desc *net,
                                bool *differs, struct error *e)
{
    fprintf(out, "%s compared with %s\n", net->name, s->table.path);
    fprintf(out, "%-20s  %-20s  %10s  %-12s  %-14s  %10s\n", "published", "output", "parameters",
            "ours", "output", "parameters");
    for (size_t row = 0; row < s->table.rows; row++)
        TRY(print_row(out, s, row, net, differs, e));
    fprintf(out, "parameters: %s\n", *differs ? "not the same" : "the same, layer by layer");
    return OK;
}

static enum status compare(FILE *out, const char *name, const struct net_desc *net,
                           const struct tools *tools, int *exit_status, struct error *e)
{
    struct summary s = {0};
    bool differs = false;
    enum status status = read_summary(&s, name, tools, e);
    THEN(status, print_beside(out, &s, net, &differs, e));
    csv_table_free(&s.table);
    *exit_status = differs;
    return status;
}

static enum status print_json(FILE *out, const struct net_desc *net, struct error *e)
{
    TRY(model_write_json(out, net, e));
    fputc('\n', out);
    return OK;
}

enum status command_model(const struct arguments *a, FILE *out, int *exit_status, struct error *e)
{
    struct net_desc net;
    enum status status = OK;
    if (a->json && a->published != NULL)
        return error_set(e, ERR_ARGUMENT,
                         "model: --json cannot print the comparison with --published. Leave one "
                         "of the two out");
    TRY(model_load(&net, a->operand, e));
    if (a->json)
        status = print_json(out, &net, e);
    else if (a->published != NULL)
        status = compare(out, a->published, &net, a->tools, exit_status, e);
    else
        net_desc_print(out, &net);
    net_desc_free(&net);
    return status;
}
