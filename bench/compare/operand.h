/* What a user calls a run: its folder, that of its campaign, or the campaign's name. Internal to
 * bench/compare. */
#pragma once

#include "bench/runner/files.h"

/* The folder of the run: `name` itself; the latest run in it; the latest run of the campaign of that
 * name below `out`; results/reference/<name>, from the current folder or from `home`. ERR_ARGUMENT
 * says where it was looked for. */
enum status operand_find(char path[PATH_BYTES], const char *name, const char *out, const char *home,
                         struct error *e);

/* The same of the folder of a sweep; returns the name of its table, NULL where no such place has one. */
const char *operand_find_sweep(char path[PATH_BYTES], const char *name, const char *out,
                               const char *home);

/* ERR_ARGUMENT where one of the operands is a sweep: says what each of them is. */
enum status operand_check_campaigns(const char *const *names, size_t n, const char *out,
                                    const char *home, struct error *e);

/* ERR_ARGUMENT where `file` is a table of a run, which its folder stands for. */
enum status operand_check_no_table(const char *file, struct error *e);

/* The last two runs of a campaign, called by its spec, its folder or its name in `out`, the older first. ERR_ARGUMENT
 * where it has fewer. */
enum status operand_find_last(char paths[2][PATH_BYTES], const char *name, const char *out,
                              struct error *e);
