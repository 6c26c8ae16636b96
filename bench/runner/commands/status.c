#include <dirent.h>
#include <stdlib.h>
#include <string.h>

#include "bench/base/json.h"
#include "bench/base/log.h"
#include "bench/compare/operand.h"
#include "bench/runner/commands/commands.h"
#include "bench/runner/run_spec.h"
#include "bench/runner/status.h"
#include "kernels/base/text.h"

/* Settings of `scalebench status` and `scalebench runs`. `n`: number of shown runs, of which
 * `unreadable` runs cannot be read. */
struct asking {
    const struct arguments *arguments;
    struct spec_machine machine;
    /* prints the status of a run; not called if `json` is set */
    void (*show)(FILE *out, const struct run_status *status);
    json_t *json; /* array that collects the runs for --json; NULL without --json */
    FILE *out;
    size_t n, unreadable;
};

/* Returns the name of the oldest run that has the same facts (bench/runner/facts.h) and the same
 * points as run i; NULL: run i is the oldest such run. */
static const char *find_repeated(const struct runs *runs, size_t i)
{
    for (size_t first = 0; first < i; first++)
        if (runs->all[first].repeats == runs->all[i].repeats &&
            runs->all[first].points == runs->all[i].points)
            return runs->all[first].name;
    return NULL;
}

/* Shows the run in folder `run_dir`. If `runs` is not NULL, the run is runs->all[i]. */
static enum status show_run(struct asking *a, const char *run_dir, struct runs *runs, size_t i,
                            struct error *e)
{
    struct run_status s;
    TRY(run_status_read(&s, run_dir, &a->machine, e));
    if (runs != NULL) {
        runs->all[i].points = s.run.points;
        s.repeats = find_repeated(runs, i);
    }
    a->n++;
    a->unreadable += s.state == RUN_UNREADABLE;
    if (a->json != NULL)
        json_array_append_new(a->json, run_status_json(&s));
    else
        a->show(a->out, &s);
    run_status_free(&s);
    return OK;
}

static enum status show_folder(struct asking *a, const char *folder, struct error *e)
{
    struct runs runs;
    enum status status = runs_read(&runs, folder, e);
    for (size_t i = 0; i < runs.n && status == OK; i++)
        status = show_run(a, runs.all[i].path, &runs, i, e);
    runs_free(&runs);
    return status;
}

static int is_visible(const struct dirent *entry)
{
    return entry->d_name[0] != '.';
}

static enum status show_all(struct asking *a, const char *out, struct error *e)
{
    struct dirent **names = NULL;
    char folder[PATH_BYTES];
    enum status status = OK;
    int n = scandir(out, &names, is_visible, alphasort);
    for (int i = 0; i < n; i++) {
        THEN(status, path_format(folder, e, "%s/%s", out, names[i]->d_name));
        THEN(status, show_folder(a, folder, e));
        free(names[i]);
    }
    free(names);
    return status;
}

static enum status show_spec(struct asking *a, struct error *e)
{
    struct spec spec = {0};
    char folder[PATH_BYTES], latest[PATH_BYTES];
    enum status status = spec_load(&spec, a->arguments->operand, NULL, &a->machine, e);
    THEN(status,
         path_format(folder, e, "%s/%s", a->arguments->out, config_text(&spec.config, OPT_NAME)));
    THEN(status, path_format(latest, e, "%s/latest", folder));
    THEN(status, show_folder(a, folder, e));
    if (status == OK)
        run_spec_note_change(&spec, latest);
    spec_free(&spec);
    return status;
}

static enum status show_path(struct asking *a, const char *path, struct error *e)
{
    return folder_has(path, "spec.yaml") ? show_run(a, path, NULL, 0, e) : show_folder(a, path, e);
}

static enum status show_asked(struct asking *a, struct error *e)
{
    char path[PATH_BYTES];
    const char *operand = a->arguments->operand;
    if (operand == NULL)
        return show_all(a, a->arguments->out, e);
    TRY(path_format(path, e, "%s/%s", a->arguments->out, operand));
    if (path_is_folder(path))
        return show_path(a, path, e);
    if (path_is_folder(operand))
        return show_path(a, operand, e);
    if (spec_is_meant(operand))
        return show_spec(a, e);
    if (operand_find(path, operand, a->arguments->out, a->arguments->tools->home, e) != OK)
        return error_set(e, e->status, "%s. If you mean a spec, type %s.yaml", e->text, operand);
    return show_path(a, path, e);
}

static enum status answer(struct asking *a, int *exit_status, struct error *e)
{
    TRY(machine_here(&a->machine, e));
    TRY(show_asked(a, e));
    if (a->n == 0 && a->arguments->operand != NULL)
        return error_set(e, ERR_ARGUMENT,
                         "'%s' has no run in %s. Use --out for another folder of results",
                         a->arguments->operand, a->arguments->out);
    if (a->n == 0)
        log_print(LOG_NOTE, "%s: this folder has no run yet", a->arguments->out);
    if (a->json != NULL)
        json_put(a->out, a->json, JSON_INDENT(2));
    *exit_status = a->arguments->operand != NULL && a->unreadable > 0;
    return OK;
}

enum status command_status(const struct arguments *arguments, FILE *out, int *exit_status,
                           struct error *e)
{
    struct asking a = {.arguments = arguments, .show = run_status_print, .out = out};
    a.json = arguments->json ? json_array() : NULL;
    enum status status = answer(&a, exit_status, e);
    json_decref(a.json);
    return status;
}

static void print_line(FILE *out, const struct run_status *s)
{
    char points[TEXT_NUMBER], launches[TEXT_NUMBER];
    fprintf(out, "%-58s %-11s %12s %14s  %s%s%s%s%s\n", s->run.path, run_state_name(s->state),
            text_plural(points, (long)s->points, "point"),
            text_plural(launches, (long)(s->done + s->kept), "launch"), s->run.revision,
            s->repeats != NULL ? "  repeats " : "", s->repeats != NULL ? s->repeats : "",
            s->why[0] ? "  " : "", s->why);
}

enum status command_runs(const struct arguments *arguments, FILE *out, int *exit_status,
                         struct error *e)
{
    struct asking a = {.arguments = arguments, .show = print_line, .out = out};
    return answer(&a, exit_status, e);
}
