#include "bench/spec/spec.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench/spec/alike.h"
#include "bench/spec/expand.h"
#include "bench/spec/find.h"
#include "bench/spec/inputs.h"
#include "bench/spec/matrix.h"
#include "bench/spec/rules.h"
#include "bench/spec/yaml_reader.h"
#include "kernels/base/mem.h"

static enum status find_spec(struct spec *spec, const char *path, struct error *e)
{
    if (access(path, F_OK) != 0 && path[0] != '/')
        return find_config(&spec->path, "configs", path, e);
    spec->path = strdup(path);
    return spec->path != NULL ? OK : error_no_memory(e, "a path");
}

static enum status read_values(struct spec *spec, const char *set,
                               const struct spec_machine *machine, struct error *e)
{
    struct node root;
    enum status status = yaml_read_file(&root, spec->path, e);
    THEN(status, matrix_read(spec, &root, machine, e));
    node_free(&root);
    if (status == OK && set != NULL)
        status = matrix_apply_set(spec, set, machine, e);
    return status;
}

enum status spec_load(struct spec *spec, const char *path, const char *set,
                      const struct spec_machine *machine, struct error *e)
{
    memset(spec, 0, sizeof *spec);
    TRY(MEM_NEW(spec->matrix, 1, "a spec", e));
    TRY(find_spec(spec, path, e));
    TRY(config_init(&spec->config, e));
    TRY(read_values(spec, set, machine, e));
    TRY(rules_check_spec(spec, e));
    TRY(inputs_resolve(spec, e));
    TRY(expand_points(spec, e));
    return rules_check_points(spec, e);
}

void spec_free(struct spec *spec)
{
    for (size_t i = 0; i < spec->n_points; i++)
        config_free(&spec->points[i].config);
    free(spec->points);
    free(spec->varying);
    config_free(&spec->config);
    inputs_free(spec);
    alike_free(spec->identities);
    if (spec->matrix != NULL)
        matrix_free(spec->matrix);
    free(spec->path);
    memset(spec, 0, sizeof *spec);
}
