#include "bench/workloads/sweeps/file.h"

#include <unistd.h>

#include "bench/record/csv.h"

enum { PART_BYTES = 4096 + sizeof ".part" };

static const char *part_of(const struct sweep_file *file, char part[PART_BYTES])
{
    snprintf(part, PART_BYTES, "%s.part", file->path);
    return part;
}

enum status sweep_file_open(struct sweep_file *file, const char *folder, const char *name,
                            struct error *e)
{
    char part[PART_BYTES];
    *file = (struct sweep_file){.out = stdout};
    if (folder == NULL)
        return OK;
    snprintf(file->path, sizeof file->path, "%s/%s", folder, name);
    file->out = fopen(part_of(file, part), "we");
    return file->out != NULL ? OK
                             : error_at(e, ERR_SYSTEM, file->path, 0, 0, "cannot be written: %m");
}

enum status sweep_file_close(struct sweep_file *file, enum status swept, struct error *e)
{
    char part[PART_BYTES];
    if (file->path[0] == '\0')
        return swept;
    enum status closed = csv_close(file->out, file->path, swept == OK ? e : NULL);
    swept = swept == OK ? closed : swept;
    if (swept != OK)
        unlink(part_of(file, part));
    else if (rename(part_of(file, part), file->path) != 0)
        return error_at(e, ERR_SYSTEM, file->path, 0, 0, "cannot be written: %m");
    return swept;
}
