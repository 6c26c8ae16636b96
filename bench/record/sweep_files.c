#include "bench/record/sweep_files.h"

#define COLUMN(id, type, unit, meaning) CSV_COLUMN("comm.csv", comm_row, id, type, unit, meaning)
static const struct column comm[] = {
#include "bench/workloads/sweeps/comm/csv_comm.def"
};
#undef COLUMN
#define COLUMN(id, type, unit, meaning) CSV_COLUMN("compare.csv", comm_row, id, type, unit, meaning)
static const struct column compare[] = {
#include "bench/workloads/sweeps/comm/csv_comm.def"
};
#undef COLUMN
#define COLUMN(id, type, unit, meaning) CSV_COLUMN("link.csv", link_row, id, type, unit, meaning)
static const struct column links[] = {
#include "bench/workloads/sweeps/comm/csv_link.def"
};
#undef COLUMN
#define COLUMN(id, type, unit, meaning)                                                            \
    CSV_COLUMN("kernels.csv", kernel_row, id, type, unit, meaning)
static const struct column kernels[] = {
#include "bench/workloads/sweeps/kernel/csv_kernels.def"
};
#undef COLUMN
#define COLUMN(id, type, unit, meaning) CSV_COLUMN("limits.csv", limit_row, id, type, unit, meaning)
static const struct column limits[] = {
#include "bench/workloads/sweeps/kernel/csv_limits.def"
};
#undef COLUMN

const struct csv_file sweep_files[SWEEP_FILES] = {
    {"comm.csv", "One row per operation of comm_sweep", comm, sizeof comm / sizeof *comm},
    {"compare.csv", "One row per compared pair of operations of comm_sweep", compare,
     sizeof compare / sizeof *compare},
    {"link.csv", "One row per message size of comm_sweep", links, sizeof links / sizeof *links},
    {"kernels.csv", "One row per kernel of kernel_sweep", kernels,
     sizeof kernels / sizeof *kernels},
    {"limits.csv", "One row per op and pass of a step that kernel_sweep --part limits times",
     limits, sizeof limits / sizeof *limits},
};
