#include "bench/forecast/simulate.h"

#include <string.h>
#define XXH_INLINE_ALL /* XXH3 is used as a header-only library */
#include <xxhash.h>

#include "bench/forecast/critical_path.h"
#include "bench/runner/files.h"

struct simulated_launch {
    const char *folder;
    const char *calibration; /* folder of the launch that measured the times of ops; NULL: none */
    bool why;                /* whether to print the critical path too */
    char run[PATH_BYTES];
    size_t point;
};

static enum status simulate(struct simulation *s, FILE *out, const struct simulated_launch *l,
                            const struct spec *spec, struct error *e)
{
    TRY(simulation_run(s, e));
    bool is_kept = config_int(s->config, OPT_CRITICAL_PATH);
    if (is_kept)
        TRY(critical_path_find(s, spec, l->run, l->calibration, e));
    TRY(launch_simulated_write(l->folder, s->result, e));
    fprintf(out, "%.0f steps on %d simulated ranks: %.4g ms per step\n", s->result->steps, s->ranks,
            s->result->step_ms);
    if (l->why && !is_kept)
        TRY(critical_path_find(s, spec, l->run, l->calibration, e));
    if (l->why)
        critical_path_print(out, s);
    return OK;
}

static enum status simulate_point(FILE *out, const struct simulated_launch *l,
                                  const struct spec *spec, struct error *e)
{
    const char *name = strstr(l->folder, spec->points[l->point].id);
    struct simulation s = {.seed = XXH3_64bits(name, strlen(name))};
    enum status status = simulation_open(&s, spec, l->point, l->run, l->calibration, e);
    THEN(status, simulate(&s, out, l, spec, e));
    simulation_close(&s);
    return status;
}

/* Removes launches/POINT/NAME from the end of the path `run`, and copies POINT to `id`. Returns
 * false if the path has no such end. */
static bool cut_folders(char *run, char *id, size_t size)
{
    char *slash = strrchr(run, '/');
    if (slash == NULL)
        return false;
    *slash = '\0';
    slash = strrchr(run, '/');
    if (slash == NULL)
        return false;
    snprintf(id, size, "%s", slash + 1);
    *slash = '\0';
    slash = strrchr(run, '/');
    if (slash == NULL || strcmp(slash, "/launches") != 0)
        return false;
    *slash = '\0';
    return true;
}

static enum status keep_folder(const char *path, void *arg, struct error *e)
{
    return path_format(arg, e, "%.*s", (int)(strrchr(path, '/') - path), path);
}

/* Writes to `found` the folder of the last launch of the point's calibration in the run; "" if
 * there is no such launch or the point has a compute.rate. */
static enum status find_calibration(char found[PATH_BYTES], const struct simulated_launch *l,
                                    const struct spec *spec, struct error *e)
{
    char folder[PATH_BYTES];
    const struct point *point = &spec->points[l->point];
    found[0] = '\0';
    if (point->calibration_index == l->point)
        return OK;
    TRY(path_format(folder, e, "%s/launches/%s", l->run,
                    spec->points[point->calibration_index].id));
    return files_visit(folder, "*/rank.0.times.json", keep_folder, found, NULL, e);
}

static enum status simulate_of(FILE *out, struct simulated_launch *l, const struct spec *spec,
                               struct error *e)
{
    char found[PATH_BYTES];
    if (l->calibration == NULL) {
        TRY(find_calibration(found, l, spec, e));
        l->calibration = found[0] != '\0' ? found : NULL;
    }
    return simulate_point(out, l, spec, e);
}

enum status simulate_launch(FILE *out, const char *folder, const char *calibration, bool why,
                            struct error *e)
{
    struct simulated_launch l = {.folder = folder, .calibration = calibration, .why = why};
    char path[PATH_BYTES], id[64];
    struct spec_machine machine = {.usable_cores = 1};
    struct spec spec;
    TRY(path_format(l.run, e, "%s", folder));
    if (!cut_folders(l.run, id, sizeof id))
        return error_set(e, ERR_ARGUMENT,
                         "simulate: expected a folder RUN/launches/POINT/NAME of a point with "
                         "site: simulated, found '%s'",
                         folder);
    TRY(path_format(path, e, "%s/spec.yaml", l.run));
    enum status status = spec_load(&spec, path, NULL, &machine, e);
    l.point = status == OK ? spec_find_point(&spec, id) : 0;
    if (status == OK &&
        (l.point == spec.n_points || !config_is_simulated(&spec.points[l.point].config)))
        status = error_set(e, ERR_ARGUMENT, "simulate: %s has no point %s with site: simulated",
                           path, id);
    THEN(status, simulate_of(out, &l, &spec, e));
    spec_free(&spec);
    return status;
}
