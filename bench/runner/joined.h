/* Draws several runs in the same figures, with names that distinguish them. */
#pragma once

#include "bench/collect/collect.h"
#include "bench/runner/files.h"
#include "bench/runner/tools.h"

/* parts of a run's name, in the order in which they are added */
enum { JOINED_CAMPAIGN, JOINED_HOST, JOINED_REVISION, JOINED_STARTED, JOINED_FOLDER, JOINED_PARTS };

struct joined_run {
    char path[PATH_BYTES];
    struct spec spec;
    struct summary s;
    char parts[JOINED_PARTS][64];
    char name[96];
};

/* Builds the names of runs from parts that differ between runs, such as campaign or host. Adds
 * parts until all names differ. If two names remain equal, all names get numbers. */
void joined_name(struct joined_run *runs, size_t n);

/* Returns whether any two of the n runs have the same name. */
bool joined_share_name(const struct joined_run *runs, size_t n);
/* Appends numbers to the names of all runs if two names are equal. */
void joined_number(struct joined_run *runs, size_t n);

/* Joins the names of all runs into a folder name. */
void joined_folder(char *text, size_t size, const struct joined_run *runs, size_t n);

/* Makes `folder` and draws the first run's figures in it, with the points of all n runs. ERR_SPEC
 * if a figure does not apply to all runs. */
enum status joined_draw(const struct joined_run *runs, size_t n, const char *folder,
                        const struct tools *tools, struct error *e);
