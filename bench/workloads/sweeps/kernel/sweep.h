/* kernel_sweep: what each op of a plan and each layer costs, how far that is from what the
 * machine can do, and whether it computes what the reference plan computes. */
#pragma once

#include <stdio.h>

#include "bench/record/csv.h"
#include "bench/spec/spec.h"
#include "kernels/base/error.h"
#include "kernels/base/mem.h"
#include "kernels/base/stats.h"
#include "kernels/gemm.h"
#include "kernels/net/net.h"
#include "kernels/optimizers/optimizer.h"

/* Plans, and instruction sets; of both together as many lanes. */
#define PLANS_MAX 2
#define ISAS_MAX  2
#define LANES_MAX 2

/* PASS_TRAIN, of whole nets: a training step, with its loss and update. */
enum pass { PASS_FORWARD, PASS_BACKWARD, PASSES, PASS_TRAIN = PASSES };

enum {
    SWEEP_BEFORE = OPT_OWN - 1,
#define OPTION(id, ...) id,
#include "bench/workloads/sweeps/kernel/options.def"
};

struct sweep_options {
    struct config config; /* texts are borrowed from it */
    const char *model;    /* a name or path */
    const char *layer;    /* only what covers the layer of this name; NULL: everything */
    const char
        *spoil; /* the layer whose results are made wrong, to see that verdicts notice; NULL */
    enum plan plans[PLANS_MAX];
    int n_plans;
    bool ops, layers; /* which parts */
    enum isa isas[ISAS_MAX];
    int n_isas;
    int batch, repeats;
    const char *record; /* folder for the table; NULL: standard output */
    bool help;
};

/* ERR_SPEC or ERR_ARGUMENT with what is wrong and what is accepted. */
enum status options_parse(struct sweep_options *o, int argc, char **argv, struct error *e);
void options_help(FILE *out);
const char *plan_name(enum plan plan);

/* What the machine can do at most, measured by this process; products in registers of each set that is
 * wanted. */
struct peaks {
    double gflop_per_s, gbyte_per_s, unit_gflop_per_s[ISAS];
};
enum status peaks_measure(struct peaks *peaks, const struct sweep_options *options,
                          struct error *e);

/* The matrix product that the first of them is, 1024 x 1024 x 1024, to be timed between other
 * things. */
struct product {
    real *a, *b, *c;
};
enum status product_open(struct product *p, struct mem_room *memory, struct error *e);
double product_gflop_per_s(const struct product *p);

/* One line of the table: texts as they stand there, numbers NAN where unknown. */
#define COLUMN(id, type, unit, meaning) CSV_CELL_##type id;
struct kernel_row {
#include "bench/workloads/sweeps/kernel/csv_kernels.def"
};
#undef COLUMN

void rows_write_header(FILE *out);

/* What the rows have in common. */
struct sweep {
    const struct sweep_options *options;
    const struct net_desc *desc;
    struct peaks peaks;
    FILE *out;
    int wrong; /* rows whose verdict is bad */
};

/* Fills in what follows from times [n] in ms, FLOPs, bytes and the instruction set: rates, shares, verdict;
 * prints. */
void sweep_print_row(struct sweep *s, struct kernel_row *row, enum isa isa, const double *ms,
                     size_t n);

/* Whether a run of layers is wanted. */
bool sweep_wants(const struct sweep *s, int first_layer, int last_layer);

/* Rows of every op of each plan and of the whole net; then of every layer by itself. */
enum status sweep_ops(struct sweep *s, struct error *e);
enum status sweep_layers(struct sweep *s, struct error *e);
const char *pass_name(enum pass pass);

/* ||a - b|| / ||b||, summed up run by run of numbers. */
struct distance {
    double difference, size; /* squared */
};
void distance_add(struct distance *d, const real *a, const real *b, size_t n);
double distance_relative(const struct distance *d);

/* What rounding can make of a relative distance, of n images, after Higham and Mary, "A new
 * approach to probabilistic rounding error analysis", 2019: a sum of k products is off by sqrt(k)
 * roundings times a factor that is exceeded hardly ever. Of one layer by itself, and of layers
 * [first, ..) of a whole net, whose convolutions of 3x3 may round operands to bf16 as well. */
double bound_of_layer(const struct net_desc *desc, int layer, int n, enum pass pass);
double bound_of_net(const struct net_desc *desc, int layer, int n, enum pass pass, bool bf16);

/* Of a value of the first layer's input, and of the last one's output, in forward; gradients are numbers. */
struct value_bytes {
    size_t in, out;
};

/* Traffic of n images through layers [first, last) when every operand is read or written once. */
double least_bytes(const struct net_desc *desc, int first, int last, int n, enum pass pass,
                   struct value_bytes of);

/* FLOPs of n images, of layers [first, last) as written. */
double written_flop(const struct net_desc *desc, int first, int last, int n, enum pass pass);

/* Running statistics as they begin. */
enum status sweep_make_buffers(real **buffers, const struct net_desc *desc, struct mem_room *memory,
                               struct error *e);

/* "conv1+relu1" */
char *layer_list(char *text, size_t size, const struct net_desc *desc, int first, int last);
