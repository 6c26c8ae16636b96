#include "bench/runner/workloads.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bench/sites/argv.h"

static long id_of(const struct point *point)
{
    return config_int(&point->config, OPT_WORKLOAD);
}

/* Finds a user's program. If the program is missing, returns OK: workloads_ask reports an error for
 * each point that uses the program, and these points are skipped. */
static enum status find_foreign(struct workloads *w, const struct config *config, struct error *e)
{
    enum status status = foreign_find(w->foreign, w->spec, w->tools, config, e);
    return status == ERR_UNAVAILABLE ? OK : status;
}

enum status workloads_find(struct workloads *w, const struct spec *spec, const struct tools *tools,
                           struct error *e)
{
    memset(w, 0, sizeof *w);
    w->spec = spec;
    w->tools = tools;
    w->foreign = json_object();
    w->identities = json_object();
    if (w->foreign == NULL || w->identities == NULL)
        return error_no_memory(e, "the programs of a campaign");
    for (size_t i = 0; i < spec->n_points; i++) {
        long id = id_of(&spec->points[i]);
        const struct workload_row *row = config_workload(&spec->points[i].config);
        if (row->foreign)
            TRY(find_foreign(w, &spec->points[i].config, e));
        else if (w->programs[id][0] == '\0')
            TRY(tools_program(tools, row->name, w->programs[id], e));
        if (w->helpers[id][0] == '\0' && row->helper[0] != '\0')
            TRY(tools_program(tools, row->helper, w->helpers[id], e));
    }
    return OK;
}

void workloads_free(struct workloads *w)
{
    json_decref(w->foreign);
    json_decref(w->identities);
    w->foreign = w->identities = NULL;
}

const char *workloads_program(const struct workloads *w, const struct point *point)
{
    return config_is_foreign(&point->config) ? foreign_program(w->foreign, &point->config)
                                             : w->programs[id_of(point)];
}

/* Runs the point's program with the option `question`, such as --identify, and the point's options.
 * Stores the first line of the program's output in `answer`. */
static enum status ask(const struct workloads *w, const char *question, const struct point *point,
                       char *answer, size_t size, int *exit_status, struct error *e)
{
    const char *const start[] = {workloads_program(w, point), question, "--version-string=asked",
                                 NULL};
    struct argv_builder argv = {0};
    char **options, **all;
    TRY(point_arguments(&options, point, e));
    argv_add_all(&argv, start);
    argv_add_all(&argv, (const char *const *)options);
    free(options);
    TRY(argv_finish(&argv, &all, "the options of a workload", e));
    *exit_status = program_ask(all, true, answer, size);
    free(all);
    return OK;
}

/* Returns whether the program's answer to --identify or --check depends on the option. */
static bool concerns_identity(const struct config *config, const struct spec_option *option)
{
    if (config_is_peer(config))
        return strncmp(option->key, "peer.", strlen("peer.")) == 0;
    return strncmp(option->key, "data.", strlen("data.")) == 0 ||
           option == option_get(OPT_PRECISION) || option == option_get(OPT_ISA);
}

char *workload_about(const struct point *point)
{
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    if (out == NULL)
        return NULL;
    fputs(config_workload(&point->config)->name, out);
    for (int id = 0; id < OPTION_COUNT; id++) {
        const struct spec_option *option = option_get((enum option_id)id);
        const char *value = config_text(&point->config, (enum option_id)id);
        if (concerns_identity(&point->config, option) && strcmp(value, option->preset) != 0)
            fprintf(out, " %s=%s", option->key, value);
    }
    return fclose(out) == 0 ? text : NULL;
}

/* Stores `said`, the answer of a point's program; NULL: the program gave no answer. Takes ownership
 * of `said`. */
static enum status keep(struct workloads *w, const struct point *point, json_t *said,
                        struct error *e)
{
    char *about = workload_about(point);
    json_t *value = said != NULL ? said : json_null();
    int failed = json_object_set_new_nocheck(w->identities, about, value);
    free(about);
    return failed ? error_no_memory(e, "the answers of workloads") : OK;
}

/* Returns the identity that the point's program reported (JSON null: no answer); NULL: the program
 * was not asked yet. */
static json_t *identity_of(const struct workloads *w, const struct point *point)
{
    char *about = workload_about(point);
    json_t *identity = json_object_get(w->identities, about);
    free(about);
    return identity;
}

static bool is_exit_of(int exit_status, enum status status)
{
    return exit_status == error_exit_status(&(struct error){.status = status});
}

/* Returns ERR_SPEC with the text `why`, at the spec's value of data.path, or of data.set if
 * data.path is not set. */
static enum status refuse_data(const struct config *config, const char *why, struct error *e)
{
    enum option_id id = config->values[OPT_DATA_PATH].set ? OPT_DATA_PATH : OPT_DATA_SET;
    return mark_error(e, ERR_SPEC, config->values[id].mark, "%s: %s", option_get(id)->key, why);
}

static enum status identify_once(struct workloads *w, const struct point *point, struct error *e)
{
    char line[1024];
    int exit_status;
    if (identity_of(w, point) != NULL)
        return OK;
    TRY(ask(w, "--identify", point, line, sizeof line, &exit_status, e));
    if (is_exit_of(exit_status, ERR_UNAVAILABLE) && line[0] != '\0')
        return error_set(e, ERR_UNAVAILABLE, "%s", line);
    if (is_exit_of(exit_status, ERR_DATA) && line[0] != '\0' && config_runs_here(&point->config))
        return refuse_data(&point->config, line, e);
    return keep(w, point, exit_status == 0 ? json_loads(line, 0, NULL) : NULL, e);
}

enum status workloads_check(const struct workloads *w, const struct point *point,
                            const struct launch_result *result, struct error *e)
{
    const char *is, *name;
    const json_t *identity = identity_of(w, point);
    for (size_t i = 0; identity != NULL && (is = launch_common(result, i, &name)) != NULL; i++) {
        const char *was = json_string_value(json_object_get(identity, name));
        if (was != NULL && was[0] && is[0] && strcmp(was, is) != 0)
            return error_set(e, ERR_DATA,
                             "%s: %s changed while the campaign ran: '%s' before, '%s' in this "
                             "launch, which was discarded. Restore the earlier state and run the "
                             "same command to resume; otherwise the command begins a new run",
                             point->label, name, was, is);
    }
    return OK;
}

/* Reports that a data set has a label for which the network has no class. */
static enum status refuse_label(const struct point *point, const char *largest, struct error *e)
{
    char text[300];
    const struct net_desc *net = &point->net->net;
    snprintf(text, sizeof text, "%s, but model %s has %d classes: expected labels 0..%d", largest,
             net->name, net->classes, net->classes - 1);
    return refuse_data(&point->config, text, e);
}

static enum status check_samples(const struct point *point, const char *set, int images,
                                 struct error *e)
{
    const struct value *samples = &point->config.values[OPT_DATA_SAMPLES];
    const struct value *batch = &point->config.values[OPT_GLOBAL_BATCH];
    double step = config_images_taken(&point->config);
    if (config_is_simulated(&point->config))
        return OK;
    if (samples->number <= images && step > images)
        return mark_error(e, ERR_SPEC,
                          batch->number > 0 ? batch->mark
                                            : point->config.values[OPT_BATCH_PER_RANK].mark,
                          "one step of all ranks needs %.0f images, but %s has only %d images to "
                          "train on: expected at most %d per step",
                          step, set, images, images);
    if (samples->number <= images)
        return OK;
    return mark_error(
        e, ERR_SPEC, samples->mark,
        "data.samples = %s, but %s has %d images to train on: expected 1..%d, or 0 for "
        "all",
        samples->text, set, images, images);
}

/* Checks whether the data fit the network and the batch: shape, labels, number of images. The
 * spec's reader cannot check this, since only the point's program, such as the trainer, knows the
 * data. */
static enum status check_fits(const struct workloads *w, const struct point *point, struct error *e)
{
    struct shape shape;
    const char *set, *largest;
    int classes, images;
    if (json_unpack(identity_of(w, point), "{s:s, s:[i,i,i], s:[i,s], s:i}", "dataset", &set,
                    "data_shape", &shape.c, &shape.h, &shape.w, "data_labels", &classes, &largest,
                    "data_images", &images) != 0)
        return OK;
    if (model_check_data(&point->net->net, set, shape, classes, e) == OK)
        return check_samples(point, set, images, e);
    if (largest[0] != '\0' && model_check_data(&point->net->net, set, shape, 0, e) == OK)
        return refuse_label(point, largest, e);
    return e->status = ERR_UNAVAILABLE;
}

/* Refuses restart.with = in_place, which neither the trainer nor most MPI libraries support. The
 * message includes the answer of --probe-recovery. */
static enum status check_recovery(const struct workloads *w, const struct point *point,
                                  struct error *e)
{
    char answer[1024];
    int exit_status;
    if (config_int(&point->config, OPT_RESTARTS) == 0 ||
        config_int(&point->config, OPT_RESTART_WITH) != RESTART_in_place)
        return OK;
    TRY(ask(w, "--probe-recovery", point, answer, sizeof answer, &exit_status, e));
    return error_set(e, ERR_UNAVAILABLE,
                     "restart.with = in_place is not supported (%s). To restart from a checkpoint "
                     "instead, use restart.with: same or fewer",
                     answer);
}

enum status workloads_ask(struct workloads *w, const struct point *point, struct error *e)
{
    char answer[1024], question[32];
    int exit_status = 0;
    if (config_is_foreign(&point->config))
        return foreign_find(w->foreign, w->spec, w->tools, &point->config, e);
    if (!config_is_peer(&point->config)) {
        TRY(identify_once(w, point, e));
        TRY(check_recovery(w, point, e));
        return check_fits(w, point, e);
    }
    snprintf(question, sizeof question, "--check=%ld", config_int(&point->config, OPT_RANKS));
    TRY(ask(w, question, point, answer, sizeof answer, &exit_status, e));
    if (exit_status == 0 && answer[0] != '\0')
        return keep(w, point, json_pack("{s:s}", "foundations", answer), e);
    if (answer[0] != '\0')
        return error_set(e, ERR_UNAVAILABLE, "%s", answer);
    return error_set(
        e, ERR_UNAVAILABLE, "%s --check: exit status %d and no answer. Run %s by hand to see why",
        config_workload(&point->config)->name, exit_status, workloads_program(w, point));
}

double workloads_train_images(const struct workloads *w, const struct point *point)
{
    int images;
    bool known = json_unpack(identity_of(w, point), "{s:i}", "data_images", &images) == 0;
    return known ? images : NAN;
}

size_t workloads_list(const struct workloads *w, const char *programs[WORKLOAD_PROGRAMS_MAX])
{
    size_t n = 0;
    const char *written;
    json_t *path;
    for (int id = 0; id < WORKLOADS; id++) {
        if (w->programs[id][0])
            programs[n++] = w->programs[id];
        if (w->helpers[id][0])
            programs[n++] = w->helpers[id];
    }
    json_object_foreach(w->foreign, written, path) programs[n++] = json_string_value(path);
    return n;
}
