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
    w->answers = NULL;
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

/* Runs `PROGRAM --check` with the point's options. */
static enum status ask(const char *program, const struct point *point, char *answer, size_t size,
                       int *exit_status, struct error *e)
{
    size_t n = 0, own = 2;
    char **options = point_arguments(point, e);
    while (options && options[n])
        n++;
    char **argv = options ? calloc(own + n + 1, sizeof *argv) : NULL;
    if (argv) {
        argv[0] = (char *)program;
        argv[1] = "--check";
        memcpy(argv + own, options, n * sizeof *argv);
        *exit_status = program_ask(argv, answer, size);
    }
    enum status status =
        argv ? OK : error_set(e, ERR_MEMORY, "no memory for the options of a workload");
    free(argv);
    free(options);
    return status;
}

enum status workloads_ask(struct workloads *w, const struct point *point, struct error *e)
{
    long id = config_int(&point->config, OPT_WORKLOAD);
    char answer[1024];
    int exit_status = 0;
    if (!table[id].helper[0])
        return OK;
    enum status status = ask(w->programs[id], point, answer, sizeof answer, &exit_status, e);
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
