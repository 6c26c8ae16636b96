/* Compares the ops of a training step with the limits of one core. An op's bound is the larger of
 * two times: for its FLOPs at peak rate, and for its bytes at the bandwidth of L2, L3 or memory
 * (the smallest that holds them). */
#pragma once

#include "bench/record/sweep_files.h"
#include "kernels/base/isa.h"
#include "kernels/base/mem.h"
#include "kernels/base/real.h"

/* Levels of memory that hold operands. */
enum level { LEVEL_L2, LEVEL_L3, LEVEL_MEMORY, LEVELS };

/* Peak rates of the core (best of all rounds) and sizes of its caches. */
struct limits {
    double unit_gflop_per_s[ISAS];
    double gbyte_per_s[LEVELS];
    size_t cache_bytes[LEVEL_MEMORY]; /* sizes of L2 and L3 cache; 0: no such cache */
    real *x[LEVELS];  /* array for measuring a level's bandwidth; NULL: no such level */
    size_t n[LEVELS]; /* [level] number of elements of x[level] */
};

/* Reads the sizes of the L2 and L3 caches from the text `caches` (hardware_caches), which lists L1
 * data, L1 instruction, L2 and L3, such as "32K 32K 1024K 36608K". ERR_UNAVAILABLE if L2 is
 * missing. */
enum status limits_read_caches(struct limits *l, const char *caches, struct error *e);

/* Finds the caches and allocates an array for each level. ERR_UNAVAILABLE if the sizes of the
 * caches are unknown; ERR_MEMORY if memory runs out. */
enum status limits_open(struct limits *l, struct mem_room *memory, struct error *e);

/* Measures the bandwidth of each level, and the FLOP rates of `isa` and of the full-precision
 * instruction set that `isa` extends. Keeps the best rate of all calls. */
void limits_measure(struct limits *l, enum isa isa);

/* Completes n rows: one per op and pass of a step, and a last one for the whole step. The caller
 * has set names, time_ms, flop_done, bytes and unit_gflop_per_s. Sorts the rows of ops by time,
 * longest first. */
void limits_judge(const struct limits *l, struct limit_row *rows, size_t n);

void limits_write(FILE *out, const struct limit_row *rows, size_t n);
