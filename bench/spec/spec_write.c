/* Writes a spec with all options. The written spec gives the same points on any machine. */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "bench/spec/figures/request.h"
#include "bench/spec/find.h"
#include "bench/spec/matrix.h"
#include "bench/spec/spec.h"
#include "bench/spec/value.h"
#include "bench/spec/yaml/yaml_reader.h"

static const char *published_copy(const void *spec, const char *text)
{
    const struct spec_input *input = spec_input_find(spec, OPT_PUBLISHED_FILE, text);
    return input != NULL ? input->copy : text;
}

static void write_figures(FILE *out, const struct spec *spec, const struct value *value)
{
    for (size_t i = 0; i < value->n; i++) {
        fputs(i > 0 ? ", " : "[", out);
        figure_request_write(out, &value->figures[i], published_copy, spec);
    }
    fputs(value->n > 0 ? "]" : "[]", out);
}

/* Writes the value of an option. If the value is an input file, writes the path of the file's copy
 * beside the spec. */
static void write_value(FILE *out, const struct spec *spec, enum option_id id,
                        const struct value *value)
{
    const struct spec_option *option = option_get(id);
    bool text =
        option->type == TYPE_TEXT || option->type == TYPE_CONDITION || option->type == TYPE_OWN;
    const struct spec_input *input = spec_input_find(spec, id, value->text);
    if (option->type == TYPE_FIGURES)
        write_figures(out, spec, value);
    else if (input != NULL)
        value_write_quoted(out, input->copy);
    else if (text)
        value_write_quoted(out, value->text);
    else
        fputs(value->text, out);
}

/* Returns whether an option is not written: options on axes, unset options without a default, and
 * unset batch sizes, ranks and nodes, which follow from other options. */
static bool is_absent(const struct spec *spec, const struct spec_option *option)
{
    bool follows = option->id == OPT_GLOBAL_BATCH || option->id == OPT_BATCH_PER_RANK ||
                   option->id == OPT_RANKS || option->id == OPT_NODES ||
                   option->id == OPT_RANKS_PER_NODE;
    return matrix_axis(spec->matrix, option->id) != NULL ||
           ((follows || option->preset == NULL) && !spec->config.values[option->id].set);
}

static void write_options(FILE *out, const struct spec *spec)
{
    for (size_t i = 0; i < OPTION_COUNT; i++) {
        const struct spec_option *option = config_option(&spec->config, (enum option_id)i);
        if (option->id != (enum option_id)i || is_absent(spec, option))
            continue;
        fprintf(out, "%s: ", option->key);
        write_value(out, spec, option->id, &spec->config.values[i]);
        fputc('\n', out);
    }
}

/* Writes "key: [a, b]" for each axis of the zip with number `zip`, or for each axis outside zips if
 * `zip` is 0. */
static void write_axes(FILE *out, const struct spec *spec, const struct matrix *matrix, int zip,
                       const char *indent)
{
    for (size_t i = 0; i < matrix->n_axes; i++) {
        const struct axis *axis = &matrix->axes[i];
        if (axis->zip != zip)
            continue;
        fprintf(out, "%s  %s: [", indent, config_option(&spec->config, axis->id)->key);
        for (size_t j = 0; j < axis->n; j++) {
            fputs(j > 0 ? ", " : "", out);
            write_value(out, spec, axis->id, &axis->values[j]);
        }
        fputs("]\n", out);
    }
}

static bool has_zip(const struct matrix *matrix, int zip)
{
    for (size_t i = 0; i < matrix->n_axes; i++)
        if (matrix->axes[i].zip == zip)
            return true;
    return false;
}

static void write_products(FILE *out, const struct spec *spec, const struct matrix *matrix,
                           const char *indent)
{
    char deeper[16];
    int most = matrix_zips(matrix);
    snprintf(deeper, sizeof deeper, "%s  ", indent);
    if (has_zip(matrix, 0))
        fprintf(out, "%smatrix:\n", indent);
    write_axes(out, spec, matrix, 0, indent);
    if (most > 0)
        fprintf(out, "%szip:\n", indent);
    for (int zip = 1; zip <= most; zip++) {
        if (!has_zip(matrix, zip))
            continue;
        fprintf(out, "%s  -\n", indent);
        write_axes(out, spec, matrix, zip, deeper);
    }
}

static void write_selection(FILE *out, const struct spec *spec, const struct selection *selection)
{
    const char *before = "{";
    if (selection->condition != NULL) {
        value_write_quoted(out, condition_text(selection->condition));
        fputc('\n', out);
        return;
    }
    for (size_t i = 0; i < OPTION_COUNT; i++) {
        const struct spec_option *option = config_option(&spec->config, (enum option_id)i);
        if (!selection->config.values[i].set)
            continue;
        fprintf(out, "%s%s: ", before, option->key);
        write_value(out, spec, option->id, &selection->config.values[i]);
        before = ", ";
    }
    fputs("}\n", out);
}

/* Writes the entries of `exclude` that match some point. Entries that match no point on this
 * machine or with this --set would be errors in the written spec. */
static void write_excludes(FILE *out, const struct spec *spec, const struct matrix *matrix,
                           const char *indent)
{
    bool begun = false;
    for (size_t i = 0; i < matrix->n_excludes; i++) {
        if (matrix->excludes[i].matches == 0)
            continue;
        if (!begun)
            fprintf(out, "%sexclude:\n", indent);
        fprintf(out, "%s  - ", indent);
        begun = true;
        write_selection(out, spec, &matrix->excludes[i]);
    }
}

static void write_matrix(FILE *out, const struct spec *spec, const struct matrix *matrix,
                         const char *indent)
{
    write_products(out, spec, matrix, indent);
    write_excludes(out, spec, matrix, indent);
    if (matrix->has_baseline) {
        fprintf(out, "%sbaseline: ", indent);
        write_selection(out, spec, &matrix->baseline);
    }
}

static void write_case(FILE *out, const struct spec *spec, const struct matrix *of)
{
    fputs("  - label: ", out);
    value_write_quoted(out, of->label);
    fputc('\n', out);
    for (size_t i = 0; i < OPTION_COUNT; i++) {
        const struct spec_option *option = config_option(&spec->config, (enum option_id)i);
        if (!of->own.config.values[i].set || matrix_axis(of, option->id) != NULL)
            continue;
        fprintf(out, "    %s: ", option->key);
        write_value(out, spec, option->id, &of->own.config.values[i]);
        fputc('\n', out);
    }
    write_matrix(out, spec, of, "    ");
}

const char spec_folders_key[] = "x-folders";

static bool is_relative(const struct value *value)
{
    return value->path != NULL && value->text[0] != '/';
}

/* Returns whether some point has a relative path. If so, the written spec lists folders to
 * search. */
static bool has_relative(const struct spec *spec)
{
    for (size_t i = 0; i < spec->n_points; i++) {
        const struct config *config = &spec->points[i].config;
        const struct value *command = &config->values[OPT_COMMAND];
        if (command->n > 0 && command->texts[0][0] != '/')
            return true;
        for (size_t id = 0; id < OPTION_COUNT; id++)
            if (is_relative(&config->values[id]))
                return true;
    }
    return false;
}

static enum status write_folder(FILE *out, const char *file, const char *before, struct error *e)
{
    char *folder = NULL, *absolute = NULL;
    TRY(find_folder(&folder, file, e));
    enum status status = find_absolute(&absolute, folder, "", e);
    fputs(before, out);
    if (status == OK)
        value_write_quoted(out, absolute);
    free(folder);
    free(absolute);
    return status;
}

/* Writes the folders in which relative paths are searched, so that the written spec can lie
 * anywhere. */
static enum status write_folders(FILE *out, const struct spec *spec, struct error *e)
{
    const struct node *folders = spec->folders;
    const char *before = "";
    if (!has_relative(spec))
        return OK;
    fprintf(out, "%s: [", spec_folders_key);
    for (size_t i = 0; folders != NULL && i < folders->n; i++, before = ", ")
        TRY(write_folder(out, folders->items[i].text, before, e));
    for (size_t i = 0; folders == NULL && i < spec->n_bases + 2; i++, before = ", ")
        TRY(write_folder(out,
                         i == 0               ? spec->path
                         : i <= spec->n_bases ? spec->bases[i - 1]
                                              : "",
                         before, e));
    fputs("]\n", out);
    return OK;
}

/* First line of a recorded spec. */
static const char head[] = "# Every option of the campaign as it was run; written by scalebench.\n";

bool spec_is_recorded(const char *path)
{
    char line[sizeof head] = "";
    struct stat info;
    bool is_file =
        stat(path, &info) == 0 && S_ISREG(info.st_mode); /* a pipe can be read only once */
    FILE *in = is_file ? fopen(path, "re") : NULL;
    bool read = in != NULL && fgets(line, sizeof line, in) != NULL;
    if (in != NULL)
        fclose(in);
    return read && strcmp(line, head) == 0;
}

enum status spec_write(FILE *out, const struct spec *spec, struct error *e)
{
    fputs(head, out);
    TRY(write_folders(out, spec, e));
    write_options(out, spec);
    write_matrix(out, spec, spec->matrix, "");
    if (spec->matrix->n_cases > 0)
        fputs("cases:\n", out);
    for (size_t i = 0; i < spec->matrix->n_cases; i++)
        write_case(out, spec, &spec->matrix->cases[i]);
    return ferror(out) ? error_set(e, ERR_SYSTEM, "the resolved spec could not be written") : OK;
}
