#include "bench/runner/run_spec.h"

#include "bench/runner/files.h"
#include "bench/sites/allocation.h"

enum status machine_here(struct spec_machine *machine, struct error *e)
{
    struct place *place;
    TRY(place_open(&place, NULL, e));
    *machine = allocation_machine(place);
    place_close(place);
    return OK;
}

enum status spec_load_here(struct spec *spec, const char *path, const char *set, struct error *e)
{
    struct spec_machine machine;
    *spec = (struct spec){0};
    TRY(machine_here(&machine, e));
    return spec_load(spec, path, set, &machine, e);
}

enum status run_spec_load(struct spec *spec, const char *run_dir, const char *set, struct error *e)
{
    char path[PATH_BYTES];
    *spec = (struct spec){0};
    TRY(path_format(path, e, "%s/spec.yaml", run_dir));
    if (!path_exists(path))
        return error_at(e, ERR_ARGUMENT, run_dir, 0, 0,
                        "not the folder of a run: spec.yaml not found");
    return spec_load_here(spec, path, set, e);
}
