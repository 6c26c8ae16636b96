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

/* Reads the description of a cluster. `name`: path of the file, or NAME for configs/sites/NAME.yaml
 * in the current folder, then in `home` (the folder with scalebench's configs/). Errors:
 * ERR_ARGUMENT if the file is not found, ERR_SPEC if its content is wrong. Call cluster_free
 * afterwards, even after an error. */
enum status cluster_read(struct cluster *c, const char *name, const char *home, struct error *e);
void cluster_free(struct cluster *c);

/* cluster_text, cluster_count and cluster_list return the value of a key; "", 1 and NULL if the
 * file does not have the key. *n: number of items in the list. */
const char *cluster_text(const struct cluster *c, enum cluster_key key);
long cluster_count(const struct cluster *c, enum cluster_key key);
const struct node *cluster_list(const struct cluster *c, enum cluster_key key, size_t *n);

/* Returns cores per node and number of nodes of the cluster's largest job. Every job reads the spec
 * as if it had this size, so all jobs have the same points. */
struct spec_machine cluster_machine(const struct cluster *c);
