/* Joins the CSV files that launches of a sweep wrote (bench/record/sweep_files.h). Takes the rows
 * of each point's last launch that has the file, in the order of points. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench/collect/csv/fill.h"
#include "bench/record/sweep_files.h"

struct joining {
    const struct csv *csv;
    const char *file;
    bool begun;
};

/* Finds the point's last launch that has file j->file, and sets `path` to the file's path. Returns
 * false if no launch of the point has this file. */
static bool find_last(char path[4500], const struct joining *j, const struct point_summary *p)
{
    char at[4500];
    bool found = false;
    for (size_t i = p->first_launch; i < j->csv->s->n_launches; i = j->csv->s->launches[i].next) {
        snprintf(at, sizeof at, "%s/%s/%s", j->csv->run_dir, j->csv->s->journal->launches[i].launch,
                 j->file);
        if (access(at, R_OK) != 0)
            continue;
        strcpy(path, at);
        found = true;
    }
    return found;
}

static enum status copy_rows(FILE *out, struct joining *j, const char *path, struct error *e)
{
    char *line = NULL;
    size_t size = 0;
    FILE *in = fopen(path, "re");
    if (in == NULL)
        return error_at(e, ERR_SYSTEM, path, 0, 0, "cannot be read: %m");
    for (bool is_header = true; getline(&line, &size, in) >= 0; is_header = false)
        if (!is_header || !j->begun)
            fputs(line, out);
    free(line);
    fclose(in);
    j->begun = true;
    return OK;
}

static enum status write_rows(FILE *out, void *what, struct error *e)
{
    struct joining *j = what;
    const struct summary *s = j->csv->s;
    char path[4500];
    for (size_t i = 0; i < s->n; i++) {
        const struct point *point = s->points[i].point;
        if (point->twin == i && config_is_foreign(&point->config) &&
            find_last(path, j, &s->points[i]))
            TRY(copy_rows(out, j, path, e));
    }
    return OK;
}

enum status csv_join_tables(const struct csv *csv, const struct stage *stage, struct error *e)
{
    for (size_t i = 0; i < SWEEP_FILES; i++) {
        struct joining j = {.csv = csv, .file = sweep_files[i].name};
        TRY(stage_write(stage, j.file, write_rows, &j, e));
        if (j.begun)
            TRY(stage_keep(stage, j.file, e));
        else
            csv_remove_stale(csv->run_dir, j.file);
    }
    return OK;
}
