/* Detects YAML files of the wrong kind, such as a model in place of a spec. */
#pragma once

#include "bench/spec/yaml/node.h"

enum file_kind { FILE_SPEC, FILE_MODEL, FILE_SITE };

/* Returns ERR_SPEC if the file has top-level keys of another kind of file, but none of kind
 * `expected`. The message names the other kind. */
enum status file_kind_check(const struct node *root, enum file_kind expected, struct error *e);

/* Returns ERR_SPEC if the path is an existing file with the ending of another kind, such as ".csv".
 * Also returns ERR_SPEC if a spec is expected and the path is a run's folder. */
enum status file_kind_check_path(const char *path, enum file_kind expected, struct error *e);
