#include "bench/runner/workloads.h"

#include <stdlib.h>
#include <string.h>

static const struct {
    const char *name, *helper;
} table[WORKLOADS] = {
#define WORKLOAD(name, helper, summary) {#name, helper},
#include "bench/spec/workloads.def"
#undef WORKLOAD
};

static enum status find(struct workloads *w, long id, const struct tools *tools, struct error *e)
{
    enum status status = tools_program(tools, table[id].name, w->programs[id], e);
    if (status == OK && table[id].helper[0])
        status = tools_program(tools, table[id].helper, w->helpers[id], e);
    return status;
}

enum status workloads_find(struct workloads *w, const struct spec *spec, const struct tools *tools,
                           struct error *e)
{
    enum status status = OK;
    memset(w, 0, sizeof *w);
    for (size_t i = 0; status == OK && i < spec->n_points; i++) {
        long id = config_int(&spec->points[i].config, OPT_WORKLOAD);
        if (!w->programs[id][0])
            status = find(w, id, tools, e);
    }
    return status;
}

void workloads_free(struct workloads *w)
{
    free(w->answers);
    for (size_t i = 0; i < w->n_identities; i++) {
        free(w->identities[i].data);
        json_decref(w->identities[i].said);
    }
    free(w->identities);
    w->answers = NULL;
    w->identities = NULL;
    w->n_identities = 0;
}

const char *workloads_program(const struct workloads *w, const struct point *point)
{
    return w->programs[config_int(&point->config, OPT_WORKLOAD)];
}

static enum status keep_answer(struct workloads *w, const char *answer, struct error *e)
{
    size_t used = w->answers ? strlen(w->answers) : 0, more = strlen(answer) + 2;
    char *grown = realloc(w->answers, used + more);
    if (!grown)
        return error_set(e, ERR_MEMORY, "no memory for the answers of workloads");
    snprintf(grown + used, more, "%s\n", answer);
    w->answers = grown;
    return OK;
}

/* Runs `PROGRAM QUESTION` with the point's options. */
static enum status ask(const char *program, const char *question, const struct point *point,
                       char *answer, size_t size, int *exit_status, struct error *e)
{
    size_t n = 0, own = 2;
    char **options = point_arguments(point, e);
    while (options && options[n])
        n++;
    char **argv = options ? calloc(own + n + 1, sizeof *argv) : NULL;
    if (argv) {
        argv[0] = (char *)program;
        argv[1] = (char *)question;
        memcpy(argv + own, options, n * sizeof *argv);
        *exit_status = program_ask(argv, answer, size);
    }
    enum status status =
        argv ? OK : error_set(e, ERR_MEMORY, "no memory for the options of a workload");
    free(argv);
    free(options);
    return status;
}

/* "0 data.set=mnist data.path=auto ...": the workload and all that says which data. */
static char *describe_data(const struct point *point)
{
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    if (!out)
        return NULL;
    fprintf(out, "%ld", config_int(&point->config, OPT_WORKLOAD));
    for (int id = 0; id < OPTION_COUNT; id++) {
        const char *key = option_get((enum option_id)id)->key;
        if (strncmp(key, "data.", 5) == 0)
            fprintf(out, " %s=%s", key, config_text(&point->config, (enum option_id)id));
    }
    return fclose(out) == 0 ? text : NULL;
}

static const struct workload_identity *find_identity(const struct workloads *w, const char *data)
{
    for (size_t i = 0; i < w->n_identities; i++)
        if (strcmp(w->identities[i].data, data) == 0)
            return &w->identities[i];
    return NULL;
}

static enum status identify(struct workloads *w, long id, const struct point *point, char *data,
                            struct error *e)
{
    char line[1024];
    int exit_status;
    struct workload_identity *grown =
        reallocarray(w->identities, w->n_identities + 1, sizeof *grown);
    if (!grown) {
        free(data);
        return error_set(e, ERR_MEMORY, "no memory for what workloads say");
    }
    w->identities = grown;
    struct workload_identity *identity = &w->identities[w->n_identities++];
    *identity = (struct workload_identity){.data = data};
    enum status status =
        ask(w->programs[id], "--identify", point, line, sizeof line, &exit_status, e);
    if (status == OK && exit_status == 0)
        identity->said = json_loads(line, 0, NULL);
    return status == OK && identity->said ? keep_answer(w, line, e) : status;
}

static enum status identify_once(struct workloads *w, long id, const struct point *point,
                                 struct error *e)
{
    char *data = describe_data(point);
    if (!data)
        return error_set(e, ERR_MEMORY, "no memory for the options of the data");
    if (!find_identity(w, data))
        return identify(w, id, point, data, e);
    free(data);
    return OK;
}

enum status workloads_check(const struct workloads *w, const struct point *point,
                            const struct launch_result *result, struct error *e)
{
    const char *is, *name;
    char *data = describe_data(point);
    const struct workload_identity *identity = data ? find_identity(w, data) : NULL;
    free(data);
    for (size_t i = 0; identity && (is = launch_common(result, i, &name)); i++) {
        const char *was = json_string_value(json_object_get(identity->said, name));
        if (was && was[0] && is[0] && strcmp(was, is) != 0)
            return error_set(e, ERR_DATA,
                             "%s: %s changed while the campaign ran: '%s' before, '%s' in this "
                             "launch, which does not count; put back, the same command goes on; "
                             "as it is, it begins a new run",
                             point->label, name, was, is);
    }
    return OK;
}

/* Of a set whose images the spec could not know. */
static enum status check_fits(const struct workloads *w, const struct point *point, struct error *e)
{
    char *data = describe_data(point);
    const struct workload_identity *identity = data ? find_identity(w, data) : NULL;
    struct shape shape;
    const char *set;
    int classes;
    free(data);
    if (!identity ||
        json_unpack(identity->said, "{s:s, s:[i,i,i], s:i}", "dataset", &set, "data_shape",
                    &shape.c, &shape.h, &shape.w, "data_classes", &classes) != 0 ||
        model_check_data(&point->net->net, set, shape, classes, e) == OK)
        return OK;
    return e->status = ERR_UNAVAILABLE;
}

enum status workloads_ask(struct workloads *w, const struct point *point, struct error *e)
{
    long id = config_int(&point->config, OPT_WORKLOAD);
    char answer[1024];
    int exit_status = 0;
    if (!table[id].helper[0]) {
        enum status known = identify_once(w, id, point, e);
        return known == OK ? check_fits(w, point, e) : known;
    }
    enum status status =
        ask(w->programs[id], "--check", point, answer, sizeof answer, &exit_status, e);
    if (status != OK)
        return status;
    if (exit_status == 0 && answer[0])
        return keep_answer(w, answer, e);
    if (answer[0])
        return error_set(e, ERR_UNAVAILABLE, "%s", answer);
    return error_set(e, ERR_UNAVAILABLE,
                     "%s --check: exit status %d and no answer; %s by hand says why",
                     table[id].name, exit_status, w->programs[id]);
}

size_t workloads_list(const struct workloads *w, const char *programs[2 * WORKLOADS])
{
    size_t n = 0;
    for (int id = 0; id < WORKLOADS; id++) {
        if (w->programs[id][0])
            programs[n++] = w->programs[id];
        if (w->helpers[id][0])
            programs[n++] = w->helpers[id];
    }
    return n;
}
