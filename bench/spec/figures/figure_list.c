/* Parses, copies and frees values of any option, including lists of figures. */
#include <stdlib.h>
#include <string.h>

#include "bench/spec/figures/request.h"
#include "bench/spec/value.h"
#include "kernels/base/mem.h"

static void write_figure(FILE *out, const struct value *value, unsigned i)
{
    figure_request_write(out, &value->figures[i], NULL, NULL);
}

static enum status read_figure(struct value *value, size_t i, const struct given *g,
                               struct error *e)
{
    const struct node *node = &g->node->items[i];
    TRY(figure_request_read(&value->figures[i], node, e));
    const char *name = figure_request_name(&value->figures[i]);
    for (size_t j = 0; j < i; j++) {
        if (strcmp(value->texts[j], name) == 0)
            return mark_error(e, ERR_SPEC, node->mark,
                              "%s: '%s' is listed twice. If you want two figures of this kind, "
                              "give each a `name`",
                              g->option->key, name);
        if (figure_request_same(&value->figures[j], &value->figures[i]))
            return mark_error(e, ERR_SPEC, node->mark,
                              "%s: '%s' shows the same as '%s'; leave one out", g->option->key,
                              name, value->texts[j]);
    }
    return node_copy_text(&value->texts[i], name, "a value", e);
}

static enum status read_figures(struct value *value, const struct given *g, struct error *e)
{
    TRY(MEM_NEW(value->texts, g->node->n, "a value", e));
    TRY(MEM_NEW(value->figures, g->node->n, "a value", e));
    value->n = g->node->n;
    for (size_t i = 0; i < value->n; i++)
        TRY(read_figure(value, i, g, e));
    return value_set_list(value, 1, write_figure, e);
}

enum status value_parse(struct value *value, const struct given *g, struct error *e)
{
    if (g->option->type != TYPE_FIGURES)
        return value_parse_plain(value, g, e);
    if (g->node->kind != NODE_LIST)
        return mark_error(e, ERR_SPEC, g->node->mark,
                          "%s: expected a list, such as [time, {kind: line, y: wait_ms}]",
                          g->option->key);
    struct value read = {.set = true, .mark = g->node->mark};
    enum status status = read_figures(&read, g, e);
    value_free(status == OK ? value : &read);
    if (status == OK)
        *value = read;
    return status;
}

enum status value_copy(struct value *to, const struct value *from, struct error *e)
{
    TRY(value_copy_plain(to, from, e));
    if (from->figures == NULL)
        return OK;
    enum status status = MEM_NEW(to->figures, from->n, "a value", e);
    for (size_t i = 0; i < from->n && status == OK; i++)
        status = figure_request_copy(&to->figures[i], &from->figures[i], e);
    if (status != OK)
        value_free(to);
    return status;
}

void value_free(struct value *value)
{
    for (size_t i = 0; value->figures != NULL && !value->borrowed && i < value->n; i++)
        figure_request_free(&value->figures[i]);
    if (!value->borrowed)
        free(value->figures);
    value_free_plain(value);
}
