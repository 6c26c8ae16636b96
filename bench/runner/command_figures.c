#include <string.h>

#include "bench/place/place.h"
#include "bench/runner/commands.h"
#include "bench/runner/report.h"
#include "bench/spec/spec.h"

/* The cores of this machine matter to a spec that says `ranks: auto`. */
static enum status load_spec(struct spec *spec, const char *path, const char *set, struct error *e)
{
    struct place *place;
    *spec = (struct spec){0};
    enum status status = place_open(&place, NULL, e);
    if (status != OK)
        return status;
    struct spec_machine machine = {.usable_cores = place_machine(place).usable_cores};
    place_close(place);
    return spec_load(spec, path, set, &machine, e);
}

static enum status load_run(struct spec *spec, const char *run_dir, struct error *e)
{
    char path[PATH_BYTES];
    enum status status = path_format(path, e, "%s/spec.yaml", run_dir);
    if (status == OK && !path_exists(path))
        status = error_at(e, ERR_ARGUMENT, run_dir, 0, 0, "not the folder of a run: no spec.yaml");
    if (status == OK)
        status = load_spec(spec, path, NULL, e);
    return status;
}

/* A spec stands for the latest run of its campaign. */
static enum status latest_run(const struct arguments *arguments, char run_dir[PATH_BYTES],
                              struct error *e)
{
    struct spec spec;
    enum status status = load_spec(&spec, arguments->operand, arguments->set, e);
    if (status == OK)
        status = path_format(run_dir, e, "%s/%s/latest", arguments->out,
                             config_text(&spec.config, OPT_NAME));
    spec_free(&spec);
    if (status == OK && !path_is_folder(run_dir))
        status = error_at(e, ERR_ARGUMENT, run_dir, 0, 0,
                          "no run of this campaign yet; `make bench CONFIG=%s` makes one",
                          arguments->operand);
    return status;
}

static enum status redraw(const struct spec *spec, const char *run_dir, const struct tools *tools,
                          struct error *e)
{
    bool all_well;
    struct report_request request = {
        .run_dir = run_dir, .shown = run_dir, .write = true, .draw = true};
    return report_make(spec, &request, tools, &all_well, e);
}

/* Not every gnuplot writes PDF. */
static void print_picture(FILE *out, const char *run_dir, const char *figure, const char *ending)
{
    char path[PATH_BYTES];
    if (path_format(path, NULL, "%s/%s%s", run_dir, figure, ending) == OK && path_exists(path))
        fprintf(out, "%s\n", path);
}

static void print_figures(FILE *out, const struct spec *spec, const char *run_dir)
{
    static const char *const endings[] = {".svg", ".png", ".pdf"};
    const struct value *figures = &spec->config.values[OPT_FIGURES];
    for (size_t i = 0; i < figures->n; i++)
        for (size_t k = 0; k < sizeof endings / sizeof *endings; k++)
            print_picture(out, run_dir, figures->texts[i], endings[k]);
}

enum status command_figures(const struct arguments *arguments, const struct tools *tools, FILE *out,
                            int *exit_status, struct error *e)
{
    (void)exit_status;
    char run_dir[PATH_BYTES];
    struct spec spec = {0};
    enum status status = path_is_folder(arguments->operand)
                             ? path_format(run_dir, e, "%s", arguments->operand)
                             : latest_run(arguments, run_dir, e);
    if (status == OK)
        status = load_run(&spec, run_dir, e);
    if (status == OK)
        status = redraw(&spec, run_dir, tools, e);
    if (status == OK)
        print_figures(out, &spec, run_dir);
    spec_free(&spec);
    return status;
}

enum status command_table(const struct arguments *arguments, const struct tools *tools, FILE *out,
                          int *exit_status, struct error *e)
{
    struct spec spec = {0};
    bool all_well = true;
    struct report_request request = {
        .run_dir = arguments->operand, .shown = arguments->operand, .table = out};
    enum status status = load_run(&spec, request.run_dir, e);
    if (status == OK)
        status = report_make(&spec, &request, tools, &all_well, e);
    if (!all_well)
        *exit_status = 1;
    spec_free(&spec);
    return status;
}
