/* Finds values that no point reads, and removes or rejects them. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/spec/figures/request.h"
#include "bench/spec/matrix.h"
#include "bench/spec/points/points.h"
#include "bench/spec/points/readers.h"
#include "bench/spec/value.h"
#include "bench/spec/yaml/yaml_reader.h"
#include "kernels/base/names.h"
#include "kernels/base/text.h"

/* Value in the spec, identified by its position in the file, and whether points read it. */
struct written_value {
    enum option_id id;
    struct mark mark;
    /* condition that keeps some point from reading the value */
    const struct reader *lacks;
    /* values that keep the written value from taking effect: values of option lacks->owner, or a
     * value of option late->counted, which may be the written option itself */
    char found[256];
    /* limit (such as the number of steps) that option late->counted (such as a period in steps)
     * exceeds at some point, so that this value has no effect there. NULL: no such limit */
    const struct length *late;
    double most; /* largest value of the limit `late` among points where option late->counted
                    exceeds the limit; 0 if `late` is NULL */
    bool read;   /* whether a point reads the value */
};

/* ---- Values in the spec ---- */

static bool is_same_place(struct mark a, struct mark b)
{
    return a.line == b.line && a.column == b.column && a.anchor_line == b.anchor_line &&
           a.anchor_column == b.anchor_column && strcmp(a.file, b.file) == 0;
}

/* Finds or adds the entry of a value; NULL if memory runs out. */
static struct written_value *find_written(struct spec *spec, enum option_id id, struct mark mark)
{
    for (size_t i = 0; i < spec->n_written; i++)
        if (spec->written[i].id == id && is_same_place(spec->written[i].mark, mark))
            return &spec->written[i];
    struct written_value *grown = reallocarray(spec->written, spec->n_written + 1, sizeof *grown);
    if (grown == NULL)
        return NULL;
    spec->written = grown;
    grown[spec->n_written] = (struct written_value){.id = id, .mark = mark};
    return &grown[spec->n_written++];
}

static enum status note_value(struct spec *spec, const struct config *config, enum option_id id,
                              struct error *e)
{
    const struct reader *lacks = reader_find_lack(config, id);
    const struct length *late = lacks == NULL ? reader_find_late(config, id) : NULL;
    struct written_value *written = find_written(spec, id, config->values[id].mark);
    if (written == NULL)
        return error_no_memory(e, "a spec");
    written->read = written->read || (lacks == NULL && late == NULL);
    if (late != NULL) {
        written->late = late;
        snprintf(written->found, sizeof written->found, "%s", config_text(config, late->counted));
        written->most = fmax(written->most, late->most(config));
    }
    if (lacks != NULL && written->late == NULL &&
        (written->lacks == NULL || written->lacks == lacks)) {
        const char *found = reader_owner_text(config, lacks->owner);
        written->lacks = lacks;
        if (strcmp(written->found, found) != 0 && !name_is_word(written->found, found))
            text_join(written->found, sizeof written->found, " or ", found);
    }
    return OK;
}

/* Returns whether a value of this option is rejected if no point reads it; owned_check (points.h)
 * lists exceptions. False for options of the whole campaign without a row in readers.c, since the
 * runner reads them. */
static bool is_owned(const struct spec_option *option)
{
    return !scope_is_campaign(option->scope) || reader_has_row(option->id);
}

static bool is_on_axis(const struct matrix *of, enum option_id id)
{
    const struct axis *axis = matrix_axis(of, id);
    return axis != NULL && axis->n > 1;
}

/* Returns whether a spec may write an option's default at a point that does not use the option.
 * This is allowed in a baseline, where the default resets a value, and on an axis with other
 * values. Exception: on an axis, a default above its limit (a period above the number of steps) is
 * not allowed, since it would add a point without effect. */
static bool may_be_preset(const struct spec *spec, const struct matrix *of,
                          const struct config *config, enum option_id id)
{
    return of == NULL ||
           ((is_on_axis(of, id) || is_on_axis(spec->matrix, id)) &&
            (reader_find_lack(config, id) != NULL || reader_find_late(config, id) == NULL));
}

enum status owned_note(struct spec *spec, const struct config *config, const struct matrix *of,
                       struct error *e)
{
    for (enum option_id id = 0; id < OPT_OWN; id++) {
        const struct spec_option *option = option_get(id);
        const struct value *value = &config->values[id];
        bool recorded = spec->is_recorded && !mark_from_set(value->mark);
        if (value->set && value->mark.line > 0 && !recorded && is_owned(option) &&
            !(value_is_preset(option, value) && may_be_preset(spec, of, config, id)))
            TRY(note_value(spec, config, id, e));
    }
    return OK;
}

/* ---- Values that no point reads ---- */

/* Returns whether the limit late->most depends on an option determined by --set, option `quick` or
 * the machine. */
static bool is_cut(const struct spec *spec, const struct length *late)
{
    for (const enum option_id *by = late->by; *by != OPTION_COUNT; by++)
        if (spec_option_is_open(spec, *by))
            return true;
    return false;
}

bool owned_is_open(const struct spec *spec, enum option_id owner)
{
    static const enum option_id sizes[] = {OPT_RANKS, OPT_NODES, OPT_RANKS_PER_NODE};
    for (size_t i = 0; i < 3 && (owner == OPT_RANKS || owner == OPT_NODES); i++)
        if (spec_option_is_open(spec, sizes[i]))
            return true;
    return spec_option_is_open(spec, owner);
}

bool owned_is_of_base(const struct spec *spec, struct mark mark)
{
    for (size_t i = 0; i < spec->n_bases; i++)
        if (strcmp(spec->bases[i], mark.file) == 0)
            return true;
    return false;
}

/* Returns whether an unread value is allowed. A value in a file that the spec extends is allowed.
 * Other values, except values of --set, are allowed if the command line or the machine determines
 * which points read them. */
static bool is_excused(const struct spec *spec, const struct written_value *written)
{
    return owned_is_of_base(spec, written->mark) ||
           (!mark_from_set(written->mark) &&
            (written->late != NULL ? is_cut(spec, written->late)
                                   : owned_is_open(spec, written->lacks->owner)));
}

/* Returns whether a value that no point reads stays in the spec. Removing it would change the
 * identities of points. */
static bool is_kept(const struct written_value *written)
{
    static const enum option_id kept[] = {OPT_EPOCHS, OPT_LR_RULE, OPT_CALL_CHECK, OPT_SITE_RATE,
                                          OPT_SITE_DELAY};
    for (size_t i = 0; i < sizeof kept / sizeof *kept; i++)
        if (written->id == kept[i])
            return true;
    return written->late != NULL;
}

/* Returns the entry of the value at `mark` if no point reads the value and it may be removed from
 * the spec; otherwise NULL. */
static const struct written_value *find_unread(const struct spec *spec, enum option_id id,
                                               struct mark mark)
{
    for (size_t i = 0; i < spec->n_written; i++) {
        const struct written_value *w = &spec->written[i];
        if (w->id == id && !w->read && is_same_place(w->mark, mark))
            return !is_kept(w) && is_excused(spec, w) ? w : NULL;
    }
    return NULL;
}

/* Returns whether all values of the axis, except the default, can be removed because no point reads
 * them. */
static bool axis_is_unread(const struct axis *axis, const struct spec *spec)
{
    size_t presets = 0, unread = 0;
    for (size_t i = 0; i < axis->n; i++) {
        presets += axis->n > 1 && value_is_preset(option_get(axis->id), &axis->values[i]);
        unread += find_unread(spec, axis->id, axis->values[i].mark) != NULL;
    }
    return unread > 0 && presets + unread == axis->n;
}

static enum status leave_out_of(struct matrix *of, struct config *config, const struct spec *spec,
                                bool *some, struct error *e)
{
    for (enum option_id id = 0; id < OPT_OWN; id++) {
        struct value *value = &config->values[id];
        struct axis *axis = matrix_axis(of, id);
        if (axis != NULL && axis_is_unread(axis, spec)) {
            matrix_remove_axis(of, axis);
            *some = true;
        }
        const struct written_value *unread = find_unread(spec, id, value->mark);
        if (!value->set || unread == NULL)
            continue;
        *some = true;
        value_free(value);
        TRY(value_copy(value, &spec->presets.values[id], e));
        /* Copies the mark (position in a file, or --set) of option lacks->owner, which made the
         * value unread. If the mark is --set, is_excused then also accepts unread values of options
         * that depend on this option. */
        if (unread->lacks != NULL)
            value->mark = spec->config.values[unread->lacks->owner].mark;
    }
    return OK;
}

enum status owned_leave_out(struct spec *spec, bool *some, struct error *e)
{
    struct matrix *all = spec->matrix;
    *some = false;
    TRY(leave_out_of(all, &spec->config, spec, some, e));
    for (size_t i = 0; i < all->n_cases; i++)
        TRY(leave_out_of(&all->cases[i], &all->cases[i].own.config, spec, some, e));
    return OK;
}

static enum status refuse(const struct written_value *written, struct error *e)
{
    char why[READER_WHY], found[sizeof written->found + 32];
    bool preset = written->late != NULL && written->late->counted != written->id;
    snprintf(found, sizeof found, "%s%s", written->found, preset ? ", its default," : "");
    if (written->late != NULL)
        reader_explain_late(why, written->late, found, written->most);
    else
        reader_explain_lack(why, written->id, written->lacks, written->found);
    return mark_error(e, ERR_SPEC, written->mark, "%s", why);
}

enum status owned_check(const struct spec *spec, struct error *e)
{
    for (size_t i = 0; i < spec->n_written; i++)
        if (!spec->written[i].read && !is_excused(spec, &spec->written[i]))
            return refuse(&spec->written[i], e);
    return OK;
}
