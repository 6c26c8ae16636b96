/* Predicts the time of a step's messages: replays the messages of all ranks on a simulated
 * clock. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bench/figures/prediction.h"
#include "bench/spec/named_links.h"
#include "comm/cost/pipeline.h"
#include "comm/cost/tensor.h"
#include "kernels/base/mem.h"

/* Ranks of a point and their communication. The batch is divided among replicas. A replica has
 * several ranks if the network is cut into stages or slices. */
struct talk {
    const struct net_desc *net; /* the whole network; with parallel.tensor > 1, its first slice. No
                                   slice is larger than the first */
    const struct config *config;
    struct strategy_config strategy;
    enum strategy_kind kind;
    int replicas;
    size_t images, micros; /* images and micro-batches of a replica per step */
    size_t *counts, *rows; /* [tensors] elements and rows of each tensor (rows 0: vector) */
    size_t width;
    const struct sweep_machine *machine; /* coefficients of links, and the host of each rank */
};

static enum status count_tensors(struct talk *t, struct error *e)
{
    size_t n = (size_t)t->net->n_tensors;
    TRY(MEM_NEW(t->counts, n, "the tensors of a net", e));
    TRY(MEM_NEW(t->rows, n, "the tensors of a net", e));
    for (size_t i = 0; i < n; i++) {
        t->counts[i] = t->net->tensors[i].count;
        t->rows[i] = t->net->tensors[i].n_dims > 1 ? (size_t)t->net->tensors[i].dims[0] : 0;
    }
    return OK;
}

/* Returns a copy of t->machine that has `ranks` ranks, max(`group`, 1) of them on each host. Each
 * rank represents a replica or a slice. */
static struct sweep_machine machine_of(const struct talk *t, int ranks, int group)
{
    struct sweep_machine machine = *t->machine;
    machine.hosts = (struct node_map){.group = group > 1 ? group : 1, .ranks = ranks};
    return machine;
}

static int slices_of(const struct talk *t)
{
    return (int)config_int(t->config, OPT_TENSOR);
}

/* Returns a machine with replicas in place of ranks. Consecutive ranks are slices of one replica,
 * so a host with `group` ranks has group / slices replicas. */
static struct sweep_machine machine_of_replicas(const struct talk *t)
{
    return machine_of(t, t->replicas, t->machine->hosts.group / slices_of(t));
}

/* Passes the strategy's communication operations for tensors [first, last) to `reader`. Returns the
 * number of steps that these operations cover. */
static uint64_t read_sum(const struct talk *t, const struct sweep_machine *machine, size_t first,
                         size_t last, struct reader *reader)
{
    struct strategy_config config = t->strategy;
    config.rows = t->rows + first;
    if (machine->hosts.group < t->replicas && config.options[SYNC_node_ranks] == 0)
        config.options[SYNC_node_ranks] = machine->hosts.group;
    return program_read(t->kind, &config, t->replicas, t->counts + first, last - first, t->width,
                        reader);
}

/* Predicts the time (s) in which the strategy sums tensors [first, last) over all replicas, until
 * the last replica has finished. If the strategy's operations cover several steps, the time is the
 * mean per step. */
static enum status sum_s(double *seconds, const struct talk *t, size_t first, size_t last,
                         struct error *e)
{
    const struct sweep_machine machine = machine_of_replicas(t);
    struct clock_sweep sweep;
    enum status status = clock_sweep_open(&sweep, &machine, t->replicas, e);
    if (status == OK) {
        uint64_t steps = read_sum(t, &machine, first, last, &sweep.reader);
        *seconds = clock_sweep_latest_s(&sweep) / (double)steps;
    }
    clock_sweep_close(&sweep);
    return status;
}

/* ---- Slices ---- */

/* Predicts the time (s) of all allreduces between the tensor slices of a replica in one step. */
static enum status slices_s(double *seconds, const struct talk *t, const struct net_desc *whole,
                            struct error *e)
{
    int slices = slices_of(t);
    size_t images = (t->images + t->micros - 1) / t->micros;
    const struct sweep_machine machine = machine_of(t, slices, t->machine->hosts.group);
    struct clock_sweep sweep;
    enum status status = clock_sweep_open(&sweep, &machine, slices, e);
    if (status == OK) {
        tensor_program(whole, slices, t->strategy.algorithm, images, t->width, &sweep.reader);
        *seconds = (double)t->micros * clock_sweep_latest_s(&sweep);
    }
    clock_sweep_close(&sweep);
    return status;
}

/* ---- Stages ---- */

/* Cuts the network into stages: stage s has layers [first[s], first[s + 1]). The cut balances
 * FLOPs, since the layer times that the trainer balances are unknown here. */
static enum status cut_layers(int *first, const struct net_desc *net, int stages, struct error *e)
{
    size_t n = (size_t)net->n_layers;
    double *costs = NULL;
    bool *has_params = NULL;
    enum status status = MEM_NEW(costs, n, "the layers of a net", e);
    THEN(status, MEM_NEW(has_params, n, "the layers of a net", e));
    for (size_t i = 0; i < n && status == OK; i++) {
        const struct layer_desc *layer = &net->layers[i];
        costs[i] = (double)(layer->flops_forward + layer->flops_backward);
        has_params[i] = layer->n_tensors > 0;
    }
    if (status == OK && !pipeline_cut_ops(first, stages, costs, has_params, net->n_layers))
        status = error_no_memory(e, "the stages of a pipeline");
    free(costs);
    free(has_params);
    return status;
}

/* Predicts the time (s) of a stage's messages to neighbouring stages, which are on other hosts
 * unless a host has ranks of several stages. */
static double pass_on_s(const struct talk *t, const struct pipeline_traffic *sent)
{
    const struct sweep_machine *m = t->machine;
    bool within = m->hosts.group > t->replicas * slices_of(t);
    const struct link_model *link = within ? &m->memory : &m->network;
    return (double)sent->messages * (link->alpha_s + (within ? 0 : m->delay_s)) +
           (double)sent->bytes * link->beta_s;
}

/* Predicts the communication time (s) of the stage with layers [first, last): the time to sum the
 * stage's gradients, plus the time of messages to neighbouring stages. */
static enum status stage_s(double *seconds, const struct talk *t, int first, int last,
                           struct error *e)
{
    const struct layer_desc *layers = t->net->layers;
    bool is_first = first == 0, is_last = last == t->net->n_layers;
    size_t begin = (size_t)layers[first].first_tensor;
    size_t end = (size_t)(layers[last - 1].first_tensor + layers[last - 1].n_tensors);
    size_t in = is_first ? 0 : shape_count(layers[first].in);
    size_t out = is_last ? 0 : shape_count(layers[last - 1].out);
    struct pipeline_traffic sent = pipeline_traffic(in, out, (int)t->micros, t->images, t->width);
    TRY(sum_s(seconds, t, begin, end, e));
    *seconds += pass_on_s(t, &sent);
    return OK;
}

static enum status stages_s(double *seconds, const struct talk *t, struct error *e)
{
    int stages = (int)config_int(t->config, OPT_PIPELINE), *first;
    TRY(MEM_NEW(first, (size_t)stages + 1, "the stages of a pipeline", e));
    enum status status = cut_layers(first, t->net, stages, e);
    *seconds = 0;
    for (int i = 0; i < stages && status == OK; i++) {
        double stage = 0;
        status = stage_s(&stage, t, first[i], first[i + 1], e);
        *seconds = fmax(*seconds, stage);
    }
    free(first);
    return status;
}

/* ---- A step ---- */

static enum status find_ms(double *ms, struct talk *t, const struct net_desc *whole,
                           struct error *e)
{
    double stages, slices;
    TRY(stages_s(&stages, t, e));
    TRY(slices_s(&slices, t, whole, e));
    *ms = 1e3 * (stages + slices);
    return OK;
}

struct sweep_machine prediction_machine(const struct config *config,
                                        const struct link_model *memory,
                                        const struct link_model *network)
{
    int ranks = (int)config_int(config, OPT_RANKS), nodes = (int)config_int(config, OPT_NODES);
    struct sweep_machine machine = sweep_machine_of(memory, ranks);
    machine.network = *network;
    machine.hosts.group = (ranks + nodes - 1) / nodes;
    return machine;
}

void prediction_take_link(struct sweep_machine *machine, const struct config *config)
{
    enum link_kind kind = (enum link_kind)config_int(config, OPT_SITE_LINK);
    const struct named_link *row = named_link(kind);
    bool one_host = config_int(config, OPT_NODES) == 1;
    struct link_model *link = one_host ? &machine->memory : &machine->network;
    if (row == NULL)
        return;
    link->alpha_s = 1e-6 * row->alpha_us.mid;
    link->beta_s = 1e-9 * row->beta_ns.mid;
    memcpy(link->paces, named_link_paces(kind), sizeof link->paces);
    if (row->gamma_ns.mid > 0)
        machine->memory.gamma_s = 1e-9 * row->gamma_ns.mid;
}

/* Reads the tensors of `held` and the strategy of the point. `held`: the point's network, or one
 * slice of it (parallel.tensor). */
static enum status open_talk(struct talk *t, const struct net_desc *held, const struct point *point,
                             size_t width, const struct sweep_machine *machine, struct error *e)
{
    const struct config *config = &point->config;
    enum option_id at;
    *t = (struct talk){.net = held,
                       .config = config,
                       .kind = config_strategy_kind(config),
                       .replicas = (int)config_replicas(config, config_int(config, OPT_RANKS)),
                       .micros = (size_t)config_int(config, OPT_ACCUMULATE),
                       .width = width,
                       .machine = machine};
    t->images = (size_t)ceil(config_images(config) / t->replicas);
    TRY(count_tensors(t, e));
    return config_strategy(config, &t->strategy, &at, e);
}

static void close_talk(struct talk *t)
{
    free(t->counts);
    free(t->rows);
}

enum status prediction_comm_ms(double *ms, const struct point *point, size_t width,
                               const struct sweep_machine *machine, struct error *e)
{
    const struct net_desc *whole = &point->net->net;
    struct net_desc held;
    struct talk t;
    TRY(net_desc_slice(&held, whole, 0, (int)config_int(&point->config, OPT_TENSOR), e));
    *ms = 0;
    enum status status = open_talk(&t, &held, point, width, machine, e);
    THEN(status, find_ms(ms, &t, whole, e));
    close_talk(&t);
    net_desc_free(&held);
    return status;
}

enum status prediction_program(uint64_t *steps, struct program_list *list,
                               const struct point *point, size_t width,
                               const struct sweep_machine *machine, struct error *e)
{
    const struct net_desc *net = &point->net->net;
    struct talk t;
    *list = program_list_of(e);
    enum status status = open_talk(&t, net, point, width, machine, e);
    if (status == OK) {
        *steps = read_sum(&t, machine, 0, (size_t)net->n_tensors, &list->reader);
        status = list->status;
    }
    close_talk(&t);
    return status;
}
