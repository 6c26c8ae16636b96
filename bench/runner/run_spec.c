#include "bench/runner/run_spec.h"

#include "bench/base/log.h"
#include "bench/runner/files.h"
#include "bench/sites/allocation.h"
#include "bench/spec/value.h"

enum status machine_here(struct spec_machine *machine, struct error *e)
{
    struct place *place;
    TRY(place_open(&place, NULL, e));
    *machine = allocation_machine(place);
    place_close(place);
    return OK;
}

enum status spec_load_here(struct spec *spec, const char *path, const char *set, struct error *e)
{
    struct spec_machine machine;
    *spec = (struct spec){0};
    TRY(machine_here(&machine, e));
    return spec_load(spec, path, set, &machine, e);
}

enum status run_spec_load(struct spec *spec, const char *run_dir, const char *set, struct error *e)
{
    char path[PATH_BYTES];
    *spec = (struct spec){0};
    TRY(path_format(path, e, "%s/spec.yaml", run_dir));
    if (!path_exists(path))
        return error_at(e, ERR_ARGUMENT, run_dir, 0, 0,
                        "not the folder of a run: spec.yaml not found");
    return spec_load_here(spec, path, set, e);
}

void run_spec_change(char text[RUN_CHANGE], const struct spec *then, const struct spec *now)
{
    const struct config *was = &then->points[0].config, *is = &now->points[0].config;
    enum option_id id = 0;
    while (id < OPTION_COUNT &&
           (scope_is_campaign(option_get(id)->scope) || option_is_derived(id) ||
            value_equal(&was->values[id], &is->values[id])))
        id++;
    text[0] = '\0';
    if (id < OPTION_COUNT)
        snprintf(text, RUN_CHANGE, " (%s: %.80s then, %.80s now)", config_option(is, id)->key,
                 was->values[id].text, is->values[id].text);
}

size_t run_spec_find_missing(char text[RUN_MISSING], const struct spec *now, const char *run_dir)
{
    struct spec then;
    struct error why;
    char change[RUN_CHANGE], found[64] = "no point";
    size_t missing = 0;
    bool known = run_spec_load(&then, run_dir, NULL, &why) == OK;
    for (size_t i = 0; i < now->n_points && known; i++)
        missing += spec_find_point(&then, now->points[i].id) == then.n_points;
    if (missing > 0) {
        run_spec_change(change, &then, now);
        if (missing < now->n_points)
            snprintf(found, sizeof found, "only %zu of %zu points", now->n_points - missing,
                     now->n_points);
        snprintf(text, RUN_MISSING,
                 "%s has %s of %s%s: its results are of the earlier spec. Run the changed spec to "
                 "measure its points",
                 run_dir, found, now->path, change);
    }
    spec_free(&then);
    return missing;
}

void run_spec_note_change(const struct spec *now, const char *run_dir)
{
    char text[RUN_MISSING];
    if (run_spec_find_missing(text, now, run_dir) == now->n_points)
        log_print(LOG_NOTE, "%s", text);
}

/* Returns whether accuracy runs of a point can differ between seeds: by initial weights, shuffling,
 * augmentation, compression, dropout or a strategy that is not deterministic. True for users'
 * programs. */
static bool is_random(const struct point *point)
{
    const struct config *c = &point->config;
    bool drops = point->net == NULL;
    for (int i = 0; !drops && i < point->net->net.n_layers; i++) {
        enum layer_kind kind = point->net->net.layers[i].kind;
        drops = kind == LAYER_dropout || kind == LAYER_dropout2d;
    }
    return drops || config_is_foreign(c) || config_int(c, OPT_SHUFFLE) != 0 ||
           config_int(c, OPT_AUGMENT) != 0 || config_int(c, OPT_COMPRESS) != 0 ||
           value_is_preset(option_get(OPT_CHECKPOINT_START), &c->values[OPT_CHECKPOINT_START]) ||
           !(strategy_flags(config_strategy_kind(c)) & STRATEGY_DETERMINISTIC);
}

void run_spec_note_seeds(const struct spec *spec)
{
    size_t i = 0;
    while (i < spec->n_points &&
           (!config_wants_accuracy(&spec->points[i].config) || is_random(&spec->points[i])))
        i++;
    if (i < spec->n_points && spec->config.values[OPT_ACCURACY_SEEDS].n > 1)
        log_print(LOG_NOTE,
                  "%s: accuracy runs of all seeds are identical: checkpoint.start gives the "
                  "weights, and shuffling, dropout, augmentation and compression are off. Use one "
                  "seed in measure.accuracy.seeds",
                  spec->points[i].label);
}
