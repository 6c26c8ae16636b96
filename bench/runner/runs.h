/* Runs of a campaign, read from their manifests: folders <out>/<name>/<time>-<digits>. */
#pragma once

#include <jansson.h>
#include <stdbool.h>

#include "bench/runner/facts.h"
#include "bench/runner/files.h"

/* Name of a run: UTC time of its start and the first digits of its identity. Names sort by
 * start. */
#define RUN_STAMP     "%Y%m%dT%H%M%SZ"
#define RUN_ID_DIGITS 8

struct run {
    char path[PATH_BYTES];
    char name[64];     /* last part of the path: "20261122T080000Z-1a2b3c4d" */
    char identity[65]; /* SHA-256 of the facts at the start of the run */
    char revision[64], started[32];
    json_t *facts; /* texts by name; NULL: written by a version without facts, cannot be resumed */
    /* Index of the first run with equal facts, its own if there is none. Points in both runs
     * were measured again under equal facts, as by --fresh. */
    size_t repeats;
};

struct runs {
    struct run *all; /* oldest first */
    size_t n;
};

/* Reads the manifest in a folder; false if there is none. Free with run_free. */
bool run_read(struct run *run, const char *path);
void run_free(struct run *run);

/* Reads the runs in a campaign's folder; none if there is no such folder. Folders without a
 * manifest are left out, since their runs never began. Free with runs_free, also after an error. */
enum status runs_read(struct runs *runs, const char *folder, struct error *e);
void runs_free(struct runs *runs);

/* Returns whether a folder of this name is a run. */
bool run_is_name(const char *name);
