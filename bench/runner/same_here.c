#include "bench/runner/same_here.h"

#include <stdlib.h>
#include <string.h>

#include "bench/base/log.h"
#include "bench/spec/points/alike.h"
#include "kernels/base/isa.h"
#include "kernels/base/mem.h"

struct same_here {
    const struct spec *spec;
    /* groups of points with equal values of all options whose effect does not depend on the
     * machine */
    struct alike *groups;
    struct seen {
        /* the point's processors and instruction set, as text; NULL: the point is not compared with
         * others */
        char *effect;
        size_t previous; /* previous point added to this point's group; ALIKE_NONE: none */
    } * seen;            /* [n_points] one entry per point: its processors and instruction set, and
                            the previous point of its group */
    size_t first[2];     /* first two points found to run alike */
    size_t more;         /* number of further points, besides the two in `first`, that run like an
                            earlier point */
    bool found;
};

/* Returns whether the effect of an option depends on the machine. */
static bool effect_depends(enum option_id id)
{
    return id == OPT_BIND || id == OPT_ORDER || id == OPT_OVERSUBSCRIBE || id == OPT_ISA;
}

static bool is_of_group(const struct spec_option *option)
{
    return !effect_depends((enum option_id)(option - option_get((enum option_id)0)));
}

enum status same_here_open(struct same_here **same, const struct spec *spec, struct error *e)
{
    struct same_here *s;
    *same = NULL;
    TRY(MEM_NEW(s, 1, "a table of points", e));
    s->spec = spec;
    *same = s;
    TRY(MEM_NEW(s->seen, spec->n_points, "a table of points", e));
    return alike_make(&s->groups, spec, is_of_group, spec->n_points, e);
}

void same_here_free(struct same_here *same)
{
    for (size_t i = 0; same != NULL && same->seen != NULL && i < same->spec->n_points; i++)
        free(same->seen[i].effect);
    if (same != NULL) {
        free(same->seen);
        alike_free(same->groups);
    }
    free(same);
}

/* Returns the name of the instruction set that a point's kernels use on this processor. If the
 * point does not use option kernels.isa, or this processor does not support the option's value,
 * returns the value of kernels.isa. */
static const char *isa_of(const struct config *config)
{
    enum isa isa;
    struct error ignored;
    if (!config_uses(config, OPT_ISA) || isa_limit(config_text(config, OPT_ISA), &ignored) != OK ||
        isa_choose(&isa, config_int(config, OPT_PRECISION) == PRECISION_bf16, &ignored) != OK)
        return config_text(config, OPT_ISA);
    return isa_names()[isa];
}

static char *effect_of(const struct config *config, const struct place_plan *plan)
{
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    if (out == NULL)
        return NULL;
    for (int r = 0; r < plan->ranks; r++)
        fprintf(out, "%s ", plan->slots[r].cpus);
    fputs(isa_of(config), out);
    if (fclose(out) == 0)
        return text;
    free(text);
    return NULL;
}

enum status same_here_add(struct same_here *same, size_t point, const struct place_plan *plan,
                          struct error *e)
{
    const struct point *p = &same->spec->points[point];
    struct seen *seen = &same->seen[point];
    if (!p->requested || !config_runs_here(&p->config))
        return OK;
    size_t *last = alike_of(same->groups, p), before = *last;
    seen->effect = effect_of(&p->config, plan);
    seen->previous = before;
    *last = point;
    if (seen->effect == NULL)
        return error_no_memory(e, "a table of points");
    for (; before != ALIKE_NONE; before = same->seen[before].previous) {
        if (strcmp(same->seen[before].effect, seen->effect) != 0 ||
            strcmp(same->spec->points[before].id, p->id) == 0)
            continue;
        same->more += same->found;
        if (!same->found) {
            same->first[0] = before;
            same->first[1] = point;
        }
        same->found = true;
        break;
    }
    return OK;
}

void same_here_note(const struct same_here *same)
{
    char more[64] = "";
    if (!same->found)
        return;
    if (same->more > 0)
        snprintf(more, sizeof more, ". So do %zu other points", same->more);
    log_print(LOG_NOTE,
              "two points run alike on this machine (same processors, same instruction set): '%s' "
              "and '%s'%s. Differences between their results are noise",
              same->spec->points[same->first[0]].label, same->spec->points[same->first[1]].label,
              more);
}
