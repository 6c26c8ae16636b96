#include "bench/figures/figure.h"

static const struct figure_shape *const shapes[] = {
#define FIGURE(name, summary, wants, shape, script, preset) &shape_##shape,
#include "bench/spec/figures/figures.def"
};

struct figure figure_of(const struct figure_request *request)
{
    return (struct figure){.name = figure_request_name(request),
                           .script = figure_kind_get(request)->script,
                           .shape = shapes[(int)request->options[FIGURE_KIND].number],
                           .request = request,
                           .model = request->options[FIGURE_MODEL].number != 0,
                           .published = request->published};
}

const char *figure_column(const struct figure *figure, size_t i)
{
    const struct value *y = &figure->request->options[FIGURE_Y];
    return i < y->n ? y->texts[i] : NULL;
}
