#include <stdio.h>

#include "comm/cost/description.h"
#include "comm/cost/library.h"

static const struct compressor_desc *const TABLE[COMPRESSORS] = {
#define COMPRESSOR(name, flags, source, summary) &compressor_desc_##name,
#include "comm/cost/compressors.def"
};

const struct compressor_desc compressor_desc_none = {0};

enum status compressor_check(const struct strategy_config *config, const char **key,
                             struct error *e)
{
    const struct compressor_desc *desc = TABLE[config->compressor];
    return desc->check != NULL ? desc->check(config, key, e) : OK;
}

const char *compressor_title(const struct strategy_config *config, char text[COMPRESSOR_TITLE])
{
    const struct compressor_desc *desc = TABLE[config->compressor];
    text[0] = '\0';
    if (desc->title != NULL)
        snprintf(text, COMPRESSOR_TITLE, desc->title, config->options[desc->title_option]);
    return text;
}

struct gradient gradient_part(const struct gradient *g, size_t first, size_t n)
{
    struct gradient part = {.counts = g->counts + first,
                            .rows = g->rows != NULL ? g->rows + first : NULL,
                            .n = n,
                            .width = g->width};
    for (size_t i = 0; i < n; i++)
        part.count += part.counts[i];
    return part;
}

void give_sum(const struct step *s, const struct gradient *g, struct reader *to)
{
    const struct strategy_config *config = s->config;
    const struct step part = {config, g, s->ranks};
    if (config->compressor != COMPRESSOR_none)
        TABLE[config->compressor]->program(&part, to);
    else
        reader_give(
            to, library_allreduce(config->algorithm, config->calls, s->ranks, g->count, g->width));
}
