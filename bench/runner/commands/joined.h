/* Finds names that distinguish the runs in one figure. */
#pragma once

#include "bench/collect/collect.h"
#include "bench/runner/files.h"

/* parts of a run's name, in the order in which they are added */
enum { JOINED_CAMPAIGN, JOINED_HOST, JOINED_REVISION, JOINED_STARTED, JOINED_FOLDER, JOINED_PARTS };

struct joined_run {
    char path[PATH_BYTES];
    struct spec spec;
    struct summary s;
    char parts[JOINED_PARTS][64];
    char name[96];
};

/* Names each run by the parts that differ between the runs. Runs whose names are still equal get
 * numbers. */
void joined_name(struct joined_run *runs, size_t n);

/* Joins the names of all runs into a folder name. */
void joined_folder(char *text, size_t size, const struct joined_run *runs, size_t n);
