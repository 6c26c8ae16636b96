/* A cluster as configs/sites/<name>.yaml describes it: what its batch system wants to know of a job, and
 * how large one may be. */
#pragma once

#include "bench/spec/spec.h"
#include "bench/spec/yaml_reader.h"
#include "kernels/base/error.h"

enum cluster_key {
#define CLUSTER_KEY(name, kind, names, form, expected, help) CLUSTER_##name,
#include "bench/batch/cluster_keys.def"
    CLUSTER_KEYS
};

struct cluster {
    char path[4096];
    struct node root;
};

/* Reads `name`: a path, or configs/sites/<name>.yaml below the current folder, then below `home`. ERR_SPEC
 * with file:line:column for what cannot be read, ERR_ARGUMENT where there is no such file. Freed with
 * cluster_free in any case. */
enum status cluster_read(struct cluster *c, const char *name, const char *home, struct error *e);
void cluster_free(struct cluster *c);

/* A text, "" where it is not given; a count, 1 where it is not; a list, of which *n is the length. */
const char *cluster_text(const struct cluster *c, enum cluster_key key);
long cluster_count(const struct cluster *c, enum cluster_key key);
const struct node *cluster_list(const struct cluster *c, enum cluster_key key, size_t *n);

/* What a spec comes to there. */
struct spec_machine cluster_machine(const struct cluster *c);
