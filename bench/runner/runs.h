/* The runs of a campaign, as their manifests tell: folders <out>/<name>/<time>-<digits>. */
#pragma once

#include <jansson.h>
#include <stdbool.h>

#include "bench/runner/facts.h"
#include "bench/runner/files.h"

/* UTC time and first digits of the identity; the order of names is that in which runs were begun. */
#define RUN_STAMP     "%Y%m%dT%H%M%SZ"
#define RUN_ID_DIGITS 8

struct run {
    char path[PATH_BYTES];
    char name[64]; /* last part of the path: "20261122T080000Z-1a2b3c4d"; else as it is called */
    char identity[65]; /* SHA-256 over the facts that it was begun with */
    char revision[64], started[32];
    json_t *facts; /* texts; NULL: of a version that kept none; such a run is not gone on with */
    /* Index in `runs` of the first run no fact of which differs from this one's: points that both
     * have were measured again under the same facts, as --fresh does. Its own where there is none. */
    size_t repeats;
};

struct runs {
    struct run *all; /* oldest first */
    size_t n;
};

/* What the manifest in a folder says; false when there is none to read. Freed with run_free. */
bool run_read(struct run *run, const char *path);
void run_free(struct run *run);

/* The runs in a campaign's folder; none where there is no such folder. Folders without manifest,
 * which were not begun properly, are left out. Freed with runs_free in any case. */
enum status runs_read(struct runs *runs, const char *folder, struct error *e);
void runs_free(struct runs *runs);

/* Whether a folder of that name is a run. */
bool run_is_name(const char *name);
