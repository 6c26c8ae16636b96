/* Kinds of YAML files that users mistake for each other. */
#pragma once

#include "bench/spec/yaml/node.h"

enum file_kind { FILE_SPEC, FILE_MODEL, FILE_SITE };

/* ERR_SPEC if the file has keys of another kind alone: names that kind and what reads it. */
enum status file_kind_check(const struct node *root, enum file_kind expected, struct error *e);

/* ERR_SPEC if the path is a file whose ending names another kind, or a run's folder in place of its spec. */
enum status file_kind_check_path(const char *path, enum file_kind expected, struct error *e);
