/* Lists the runs of a campaign, from the manifests in <out>/<name>/<time>-<digits>. */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "bench/runner/facts.h"
#include "bench/runner/files.h"

/* A run is named by the UTC time of its start and the first RUN_ID_DIGITS digits of its identity.
 * Names sort by start. */
#define RUN_STAMP     "%Y%m%dT%H%M%SZ"
#define RUN_ID_DIGITS 8

struct run {
    char path[PATH_BYTES];
    char name[64];     /* name of the run's folder: UTC start time and first digits of the identity,
                          as in "20261122T080000Z-1a2b3c4d" */
    char identity[65]; /* SHA-256 of the facts with which the run began */
    char revision[64], started[32];
    json_t *facts; /* run's facts (facts.h) by name; NULL: none, so the run cannot be resumed */
    /* Index of the first run with the same facts; it can be this run. A later run with the same
     * facts is a repetition, for example because of --fresh. */
    size_t repeats;
    uint64_t points; /* checksum of the set of points: sum of their ids; 0 before run_status_read */
};

struct runs {
    struct run *all; /* [n] runs of a campaign, oldest first */
    size_t n;
};

/* Reads the manifest of the run in folder `path`. Returns false if the manifest is missing or
 * contains no identity (hash of the run's facts). Free with run_free. */
bool run_read(struct run *run, const char *path);
void run_free(struct run *run);

/* Reads the runs in a campaign's folder; a missing folder has none. Ignores run folders without a
 * valid manifest; a run writes its manifest before its first launch. Free with runs_free, also
 * after an error. */
enum status runs_read(struct runs *runs, const char *folder, struct error *e);
void runs_free(struct runs *runs);

/* Returns whether `name` has the form of a run's folder name. */
bool run_is_name(const char *name);
