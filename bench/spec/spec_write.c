/* A spec with every option written out: reads back to the same points on any machine. */
#include <string.h>

#include "bench/spec/matrix.h"
#include "bench/spec/spec.h"
#include "bench/spec/value.h"

/* A file goes by its copy beside the spec. */
static void write_value(FILE *out, const struct spec *spec, enum option_id id,
                        const struct value *value)
{
    const struct spec_option *option = option_get(id);
    const struct spec_input *input = spec_input_find(spec, id, value->text);
    if (input != NULL)
        value_write_quoted(out, input->copy);
    else if (option->type == TYPE_TEXT || option->type == TYPE_CONDITION)
        value_write_quoted(out, value->text);
    else
        fputs(value->text, out);
}

/* A batch size of 0 is one that is not given. */
static bool is_absent(const struct spec *spec, const struct spec_option *option)
{
    bool batch = option->id == OPT_GLOBAL_BATCH || option->id == OPT_BATCH_PER_RANK;
    return matrix_axis(spec->matrix, option->id) != NULL ||
           (batch && !spec->config.values[option->id].set);
}

static void write_options(FILE *out, const struct spec *spec)
{
    for (size_t i = 0; i < OPTION_COUNT; i++) {
        const struct spec_option *option = option_get((enum option_id)i);
        if (is_absent(spec, option))
            continue;
        fprintf(out, "%s: ", option->key);
        write_value(out, spec, option->id, &spec->config.values[i]);
        fputc('\n', out);
    }
}

static void write_axes(FILE *out, const struct spec *spec)
{
    const struct matrix *matrix = spec->matrix;
    if (matrix->n_axes > 0)
        fputs("matrix:\n", out);
    for (size_t i = 0; i < matrix->n_axes; i++) {
        const struct axis *axis = &matrix->axes[i];
        fprintf(out, "  %s: [", option_get(axis->id)->key);
        for (size_t j = 0; j < axis->n; j++) {
            fputs(j > 0 ? ", " : "", out);
            write_value(out, spec, axis->id, &axis->values[j]);
        }
        fputs("]\n", out);
    }
}

static void write_selection(FILE *out, const struct spec *spec, const struct selection *selection)
{
    const char *before = "{";
    for (size_t i = 0; i < OPTION_COUNT; i++) {
        const struct spec_option *option = option_get((enum option_id)i);
        if (!selection->config.values[i].set)
            continue;
        fprintf(out, "%s%s: ", before, option->key);
        write_value(out, spec, option->id, &selection->config.values[i]);
        before = ", ";
    }
    fputs("}\n", out);
}

/* Without excludes that match nothing on this machine or with this SET: they would be errors now
 * that the matrix is written out. */
static void write_excludes(FILE *out, const struct spec *spec)
{
    const struct matrix *matrix = spec->matrix;
    bool begun = false;
    for (size_t i = 0; i < matrix->n_excludes; i++) {
        if (matrix->excludes[i].matches == 0)
            continue;
        fputs(begun ? "  - " : "exclude:\n  - ", out);
        begun = true;
        write_selection(out, spec, &matrix->excludes[i]);
    }
}

enum status spec_write(FILE *out, const struct spec *spec, struct error *e)
{
    fputs("# Every option of the campaign as it was run; written by scalebench.\n", out);
    write_options(out, spec);
    write_axes(out, spec);
    write_excludes(out, spec);
    if (spec->matrix->has_baseline) {
        fputs("baseline: ", out);
        write_selection(out, spec, &spec->matrix->baseline);
    }
    return ferror(out) ? error_set(e, ERR_SYSTEM, "the resolved spec could not be written") : OK;
}
