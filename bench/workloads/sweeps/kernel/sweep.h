/* kernel_sweep: times each op of a plan and each layer, compares their rates with the machine's
 * peak rates, and checks their results against the reference plan. */
#pragma once

#include <stdio.h>

#include "bench/record/sweep_files.h"
#include "bench/spec/spec.h"
#include "kernels/base/error.h"
#include "kernels/base/mem.h"
#include "kernels/base/stats.h"
#include "kernels/gemm.h"
#include "kernels/net/net.h"
#include "kernels/optimizers/optimizer.h"

/* Largest number of plans, of instruction sets, and of lanes (combinations of a plan and an
 * instruction set). */
#define PLANS_MAX 2
#define ISAS_MAX  2
#define LANES_MAX 2

/* Passes that are timed. PASS_TRAIN: a training step of the whole network with loss and update. */
enum pass { PASS_FORWARD, PASS_BACKWARD, PASSES, PASS_TRAIN = PASSES };

enum {
    SWEEP_BEFORE = OPT_OWN - 1,
#define OPTION(id, ...) id,
#include "bench/workloads/sweeps/kernel/options.def"
};

struct sweep_options {
    struct config config; /* values of all options; owns the strings of the other members */
    const char *model;    /* network, or path of a model file */
    const char *layer;    /* name of a layer: kernels.csv has only rows of this layer and of the ops
                             that include it; NULL: all rows */
    const char *spoil;    /* layer whose results are falsified to test the verdicts; NULL: none */
    enum plan plans[PLANS_MAX];
    int n_plans;
    bool ops, layers;         /* whether to time ops; whether to time single layers */
    bool limits;              /* whether to write limits.csv */
    enum precision precision; /* precision of activations; bf16 instruction sets always use bf16 */
    enum isa isas[ISAS_MAX];
    int n_isas;
    int batch, repeats;
    const char *record; /* folder for the tables; NULL: standard output */
    bool help;
};

/* Parses the command line. ERR_SPEC or ERR_ARGUMENT with the expected and the found value. */
enum status options_parse(struct sweep_options *o, int argc, char **argv, struct error *e);
void options_help(FILE *out);
const char *plan_name(enum plan plan);

/* Peak rates measured by this process: of a matrix product, of a memory stream and, for each
 * instruction set, of multiply-adds in registers. */
struct peaks {
    double gflop_per_s, gbyte_per_s, unit_gflop_per_s[ISAS];
};
enum status peaks_measure(struct peaks *peaks, const struct sweep_options *options,
                          struct error *e);

/* Matrices of the product c = a x b, each 1024 x 1024. The product is timed for the peak rate, and
 * before and after each timed step. */
struct product {
    real *a, *b, *c;
};
enum status product_open(struct product *p, struct mem_room *memory, struct error *e);
double product_gflop_per_s(const struct product *p);

/* State of the sweep that all rows share. */
struct sweep {
    const struct sweep_options *options;
    const struct net_desc *desc;
    struct peaks peaks;
    FILE *out;
    int wrong; /* number of rows whose verdict is not ok */
};

/* Sets a row's rates, percentages and verdict from ms [n] (one time per repetition) and `isa`, then
 * prints the row. The caller has set flop, flop_done, bytes, residual and bound. */
void sweep_print_row(struct sweep *s, struct kernel_row *row, enum isa isa, const double *ms,
                     size_t n);

/* Returns whether --layer names one of layers [first_layer, last_layer). Without --layer, every
 * layer is selected. */
bool sweep_wants(const struct sweep *s, int first_layer, int last_layer);

/* sweep_ops prints a row for each op and for the whole network, per plan, instruction set and pass.
 * sweep_layers prints a row for each layer, timed alone, per plan and pass. --layer restricts the
 * rows to one layer and the ops that cover it. */
enum status sweep_ops(struct sweep *s, struct error *e);
enum status sweep_layers(struct sweep *s, struct error *e);
const char *pass_name(enum pass pass);

/* Sums for the relative distance ||a - b|| / ||b|| of two vectors. distance_add adds a piece of
 * both vectors. */
struct distance {
    double difference, size; /* sum of squares of a - b, sum of squares of b */
};
void distance_add(struct distance *d, const real *a, const real *b, size_t n);
double distance_relative(const struct distance *d);

/* Return a bound on the relative distance between results and reference results. Rounding alone
 * does not explain a larger distance. bound_of_layer: one layer computed alone. bound_of_net:
 * `layer` within the whole network. n: number of images. Almost certainly, the error of a sum of k
 * products is at most a constant times sqrt(k) unit roundoffs (Higham and Mary, "A new approach to
 * probabilistic rounding error analysis", 2019). `bf16`: whether layers round their operands to
 * bf16. */
double bound_of_layer(const struct net_desc *desc, int layer, int n, enum pass pass);
double bound_of_net(const struct net_desc *desc, int layer, int n, enum pass pass, bool bf16);

/* Bytes per number in the input (`in`) and output (`out`) of a range of layers. Gradients are
 * always stored as `real`. */
struct value_bytes {
    size_t in, out;
};

/* Returns the memory traffic (bytes) of layers [first, last) for n images, if every operand is read
 * or written once. */
double least_bytes(const struct net_desc *desc, int first, int last, int n, enum pass pass,
                   struct value_bytes of);

/* Returns the FLOPs of layers [first, last) for n images as the layers define them; a plan may
 * compute a different number. */
double written_flop(const struct net_desc *desc, int first, int last, int n, enum pass pass);

/* Allocates the running statistics of batch norm in `memory`, with their initial values. */
enum status sweep_make_buffers(real **buffers, const struct net_desc *desc, struct mem_room *memory,
                               struct error *e);

/* Writes the names of layers [first, last), such as "conv1+relu1", to `text`. Returns `text`. */
char *layer_list(char *text, size_t size, const struct net_desc *desc, int first, int last);
