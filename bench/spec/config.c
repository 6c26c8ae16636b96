#include <stdlib.h>
#include <string.h>

#include "bench/spec/spec.h"
#include "bench/spec/value.h"
#include "bench/spec/yaml_reader.h"
#include "kernels/base/names.h"

enum status config_set(struct config *config, const struct spec_option *option, const char *text,
                       struct mark mark, struct error *e)
{
    struct value *value = &config->values[option->id];
    if (type_is_list(option->type)) {
        struct node list;
        enum status status = yaml_read_text(&list, text, mark, e);
        if (status == OK)
            status = value_parse(value, option, &list, e);
        node_free(&list);
        return status;
    }
    struct node scalar = {.kind = NODE_SCALAR, .mark = mark, .text = (char *)text};
    return value_parse(value, option, &scalar, e);
}

/* An option without a preset starts as an empty text. */
static enum status set_preset(struct config *config, const struct spec_option *option,
                              struct error *e)
{
    struct value *value = &config->values[option->id];
    const struct mark mark = {"preset", 0, 0};
    if (option->preset) {
        enum status status = config_set(config, option, option->preset, mark, e);
        value->set = false;
        return status;
    }
    value->mark = mark;
    value->text = strdup("");
    return value->text ? OK : error_set(e, ERR_MEMORY, "no memory for the options");
}

enum status config_init(struct config *config, struct error *e)
{
    memset(config, 0, sizeof *config);
    for (size_t i = 0; i < OPTION_COUNT; i++) {
        enum status status = set_preset(config, option_get((enum option_id)i), e);
        if (status != OK) {
            config_free(config);
            return status;
        }
    }
    return OK;
}

enum status config_copy(struct config *to, const struct config *from, struct error *e)
{
    memset(to, 0, sizeof *to);
    for (size_t i = 0; i < OPTION_COUNT; i++) {
        enum status status = value_copy(&to->values[i], &from->values[i], e);
        if (status != OK) {
            config_free(to);
            return status;
        }
    }
    return OK;
}

enum status config_variant(const struct config *config, enum strategy_variant *variant,
                           struct error *e)
{
    enum strategy_kind strategy = (enum strategy_kind)config_int(config, OPT_STRATEGY);
    const char *name = config_text(config, OPT_VARIANT), *known[VARIANTS];
    char text[256];
    *variant = strategy_variant_find(strategy, name);
    if (*variant != VARIANTS)
        return OK;
    size_t n = strategy_variant_list(strategy, known);
    return error_set(e, ERR_ARGUMENT, "sync.variant of strategy %s: %s",
                     config_text(config, OPT_STRATEGY),
                     name_explain(text, sizeof text, name, known, n));
}

enum status config_form(const struct config *config, struct strategy_form *form, struct error *e)
{
    *form = (struct strategy_form){
        .segment_bytes = (size_t)config_number(config, OPT_SEGMENT),
        .cap_bytes = (size_t)(config_number(config, OPT_CAP) * 0x1p20),
        .first_cap_bytes = (size_t)(config_number(config, OPT_FIRST_CAP) * 0x1p20),
        .fusion_bytes = (size_t)(config_number(config, OPT_FUSION) * 0x1p20),
        .cycle_ns = (int64_t)(config_number(config, OPT_CYCLE) * 1e6),
        .node_ranks = (int)config_int(config, OPT_NODE_RANKS),
        .period = (uint64_t)config_int(config, OPT_PERIOD),
        .post_local = (uint64_t)config_int(config, OPT_POST_LOCAL),
    };
    return config_variant(config, &form->variant, e);
}

enum overlap_kind config_overlap(const struct config *config)
{
    unsigned flags = strategy_flags((enum strategy_kind)config_int(config, OPT_STRATEGY));
    bool overlaps = (flags & STRATEGY_OVERLAPS) != 0;
    return overlaps ? (enum overlap_kind)config_int(config, OPT_OVERLAP) : OVERLAP_none;
}

int config_cores_per_rank(const struct config *config)
{
    return (int)config_int(config, OPT_THREADS) + (config_overlap(config) == OVERLAP_thread);
}

void config_free(struct config *config)
{
    for (size_t i = 0; i < OPTION_COUNT; i++)
        value_free(&config->values[i]);
}
