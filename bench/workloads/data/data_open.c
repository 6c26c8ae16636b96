/* Opening a data set by its name: a reader each, a row of data_sets.def. */
#include <string.h>

#include "bench/spec/enumerations.h"
#include "bench/workloads/data/readers.h"
#include "kernels/base/names.h"

static data_reader *const readers[] = {
#define DATA_SET(name, ...) data_open_##name,
#include "bench/spec/data_sets.def"
};

enum status data_open(struct data_set *data, const char *set, const char *path, struct error *e)
{
    const struct enumeration *sets = names_data_sets;
    char text[256];
    *data = (struct data_set){0};
    int i = name_index(set, sets->names, sets->n);
    if (i < 0)
        return error_set(e, ERR_ARGUMENT, "data set %s",
                         name_explain(text, sizeof text, set, sets->names, sets->n));
    enum status status = readers[i](data, path, e);
    if (status != OK)
        *data = (struct data_set){0};
    return status;
}

/* A name of another set would pass the images off for what they are not. */
static enum status name_own(struct data_set *data, const char *name, struct error *e)
{
    const char *slash = strrchr(data->path, '/');
    if (strcmp(name, "auto") == 0)
        name = slash != NULL && slash[1] ? slash + 1 : data->path;
    if (strlen(name) >= DATA_NAME_BYTES)
        return error_set(e, ERR_ARGUMENT, "data.name: '%s' has more than %d characters", name,
                         DATA_NAME_BYTES - 1);
    if (name_index(name, names_data_sets->names, DATA_SETS) >= 0)
        return error_set(e, ERR_ARGUMENT,
                         "data.name: '%s' is a data set of its own; these images need another name",
                         name);
    strcpy(data->name, name);
    return OK;
}

enum status data_open_as(struct data_set *data, const char *set, const char *path, const char *name,
                         struct error *e)
{
    TRY(data_open(data, set, path, e));
    if (strcmp(data->source, "own") != 0)
        return OK;
    enum status status = name_own(data, name, e);
    if (status != OK)
        data_close(data);
    return status;
}
