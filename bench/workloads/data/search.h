/* Where the files of a data set are looked for. Internal to bench/workloads/data/. */
#pragma once

#include <stdbool.h>

#include "bench/workloads/data/readers.h"

/* Bytes of a path of a data file. */
#define DATA_FILE_MAX 1152

/* Sets path to folder/name followed by `ending`, to "" if there is no such file. ERR_DATA if the folder cannot be searched. */
enum status data_search_file(char path[DATA_FILE_MAX], const char *folder, const char *name,
                             const char *ending, struct error *e);

/* What the search has to know of a set that lies in files. */
struct data_search {
    const char *set;
    /* Opens the set where `folder` has its files; *found tells whether it has any. The folder is
     * data->path, without links. */
    enum status (*open)(struct data_set *data, const char *folder, bool *found, struct error *e);
    /* The error for a folder that the user named and that has none. */
    enum status (*no_files)(const char *folder, const char *set, struct error *e);
    data_reader *otherwise; /* opens what takes the set's place where it is nowhere; NULL: it is
                               looked for nowhere but in the folder that is given */
    const char *substitute; /* what that is, in the plural */
};

/* Opens the set from folder `path` or, when that is "auto", from the first of the usual folders
 * that has its files, as data_open says. */
enum status data_search_run(struct data_set *data, const char *path,
                            const struct data_search *search, struct error *e);
