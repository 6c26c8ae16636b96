/* Reads the description of a cluster, configs/sites/<name>.yaml: options for its batch system, and
 * the size of its largest job. */
#pragma once

#include "bench/spec/spec.h"
#include "bench/spec/yaml/yaml_reader.h"
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

/* Reads the description of a cluster. `name` is a path, or the name of configs/sites/<name>.yaml
 * below the current folder, otherwise below `home`. ERR_SPEC with file:line:column if it cannot be
 * read, ERR_ARGUMENT if it is not found. Call cluster_free afterwards, even after an error. */
enum status cluster_read(struct cluster *c, const char *name, const char *home, struct error *e);
void cluster_free(struct cluster *c);

/* Return the value of a key of the file. If the key is missing: text "", count 1, list NULL. *n:
 * length of the list. */
const char *cluster_text(const struct cluster *c, enum cluster_key key);
long cluster_count(const struct cluster *c, enum cluster_key key);
const struct node *cluster_list(const struct cluster *c, enum cluster_key key, size_t *n);

/* Returns the size of the cluster's largest job: cores per node and number of nodes. All jobs on
 * this cluster read a spec for this size, so that they have the same points. */
struct spec_machine cluster_machine(const struct cluster *c);
