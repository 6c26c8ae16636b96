/* What a run's manifest says of the machine. */
#include <errno.h>
#include <jansson.h>
#include <string.h>

#include "bench/collect/summary.h"
#include "kernels/base/file.h"

static int fact(const json_t *machine, const char *name)
{
    return (int)json_integer_value(json_object_get(machine, name));
}

/* What a reader would need to do it again. */
static const struct {
    const char *part, *name; /* part NULL: of the manifest itself */
} wanted[] = {{NULL, "command"},     {"machine", "host"},         {"machine", "architecture"},
              {"machine", "kernel"}, {"machine", "usable_cores"}, {"build", "revision"},
              {"build", "compiler"}};

static void take_gaps(struct summary *s, const json_t *manifest)
{
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
        const json_t *part =
            wanted[i].part != NULL ? json_object_get(manifest, wanted[i].part) : manifest;
        const json_t *value = json_object_get(part, wanted[i].name);
        size_t used = strlen(s->undocumented);
        if (value == NULL || json_is_null(value))
            snprintf(s->undocumented + used, sizeof s->undocumented - used, "%s%s",
                     used > 0 ? ", " : "", wanted[i].name);
    }
}

enum status machine_read(struct summary *s, const char *run_dir, struct error *e)
{
    char path[4096];
    json_error_t reason;
    snprintf(path, sizeof path, "%s/manifest.json", run_dir);
    const char *why;
    FILE *file = file_open_stream(path, &why);
    if (file == NULL && errno == ENOENT) {
        take_gaps(s, NULL);
        return OK;
    }
    if (file == NULL)
        return error_at(e, ERR_SYSTEM, path, 0, 0, "cannot read: %s", why);
    json_t *manifest = json_loadf(file, 0, &reason);
    fclose(file);
    if (manifest == NULL)
        return error_at(e, ERR_DATA, path, reason.line, reason.column, "%s", reason.text);
    const json_t *machine = json_object_get(manifest, "machine");
    s->usable_cores = fact(machine, "usable_cores");
    s->machine_cores = fact(machine, "machine_cores");
    s->numa_nodes = fact(machine, "numa_nodes");
    const char *link = json_string_value(json_object_get(machine, "link"));
    snprintf(s->link, sizeof s->link, "%s", link != NULL ? link : "");
    take_gaps(s, manifest);
    json_decref(manifest);
    return OK;
}
