/* Runs that share figures, and what tells them from each other. */
#pragma once

#include "bench/collect/collect.h"
#include "bench/runner/files.h"

/* What may tell runs from each other, the first that do being taken. */
enum { JOINED_CAMPAIGN, JOINED_HOST, JOINED_REVISION, JOINED_STARTED, JOINED_FOLDER, JOINED_PARTS };

struct joined_run {
    char path[PATH_BYTES];
    struct spec spec;
    struct summary s;
    char parts[JOINED_PARTS][64];
    char name[96];
};

/* Names each by what tells it from the others, of campaign, host, revision, time and folder as little
 * as needed; what is given twice is counted. */
void joined_name(struct joined_run *runs, size_t n);

/* The names joined, as part of a path. */
void joined_folder(char *text, size_t size, const struct joined_run *runs, size_t n);
