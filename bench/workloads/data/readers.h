/* One reader for each line of data_sets.def. */
#ifndef SCALEBENCH_WORKLOADS_DATA_READERS_H
#define SCALEBENCH_WORKLOADS_DATA_READERS_H

#include "bench/workloads/data/data_set.h"

/* Fills the zeroed *data from folder `path`, or from where the set is usually found when that is
 * "auto". After an error *data holds no maps. */
typedef enum status data_reader(struct data_set *data, const char *path, struct error *e);

#define DATA_SET(name, summary) data_reader data_open_##name;
#include "bench/spec/data_sets.def"
#undef DATA_SET

#endif
