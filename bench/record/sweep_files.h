/* CSV files of sweeps. A sweep is a program that times a part of a training step in isolation. Each
 * launch writes its own file; scalebench joins the files of a run. */
#pragma once

#include "bench/record/csv.h"

/* Structs for the rows of the CSV files. Unknown numbers are NAN. */
#define COLUMN(id, type, unit, meaning) CSV_CELL_##type id;
struct comm_row {
#include "bench/workloads/sweeps/comm/csv_comm.def"
};
struct link_row {
#include "bench/workloads/sweeps/comm/csv_link.def"
};
struct kernel_row {
#include "bench/workloads/sweeps/kernel/csv_kernels.def"
};
struct limit_row {
#include "bench/workloads/sweeps/kernel/csv_limits.def"
};
#undef COLUMN

/* Indices of sweep_files. SWEEP_COMPARE: written by `comm_sweep --compare`; its rows are struct
 * comm_row, like the rows of SWEEP_COMM. */
enum { SWEEP_COMM, SWEEP_COMPARE, SWEEP_LINK, SWEEP_KERNELS, SWEEP_LIMITS, SWEEP_FILES };
extern const struct csv_file sweep_files[SWEEP_FILES];
