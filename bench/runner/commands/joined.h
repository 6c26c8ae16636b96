/* Runs drawn in one figure, with names that distinguish them. */
#pragma once

#include "bench/collect/collect.h"
#include "bench/runner/files.h"

/* Parts of a name, in the order in which they are tried. */
enum { JOINED_CAMPAIGN, JOINED_HOST, JOINED_REVISION, JOINED_STARTED, JOINED_FOLDER, JOINED_PARTS };

struct joined_run {
    char path[PATH_BYTES];
    struct spec spec;
    struct summary s;
    char parts[JOINED_PARTS][64];
    char name[96];
};

/* Names each run by the first parts in which the runs differ. Runs that still share a name are
 * numbered. */
void joined_name(struct joined_run *runs, size_t n);

/* Writes the joined names for use in a path. */
void joined_folder(char *text, size_t size, const struct joined_run *runs, size_t n);
