#include "bench/spec/nodes/resolve.h"

#include <stdlib.h>
#include <string.h>

#include "bench/spec/matrix.h"
#include "bench/spec/value.h"
#include "kernels/base/mem.h"

static bool is_number(const char *text)
{
    return text[strspn(text, "0123456789")] == '\0';
}

/* Stores `number` as the value of option `id`. The value's member `set` (given by the user, not a
 * default) stays unchanged. */
static enum status set_number(struct config *config, enum option_id id, long number,
                              struct error *e)
{
    struct value *value = &config->values[id];
    bool set = value->set, same = is_number(value->text) && atol(value->text) == number;
    if (!same)
        TRY(config_set_number(config, id, number, e));
    value->set = set;
    return OK;
}

static enum status put_number(struct value *value, enum option_id id, long number, struct mark mark,
                              struct error *e)
{
    char text[24];
    snprintf(text, sizeof text, "%ld", number);
    struct node node = {.kind = NODE_SCALAR, .mark = mark, .text = text};
    return value_parse(value, &(struct given){option_get(id), &node}, e);
}

/* ---- Words: auto, half and full ---- */

/* Part of the spec in which auto, half and full are being replaced by numbers of nodes or ranks:
 * the spec's own matrix or one case. */
struct scope {
    const struct spec *spec;
    const struct matrix *of;
    const struct spec_machine *machine;
};

/* Returns the only value of an option in this scope; NULL if it varies. */
static const struct value *single_value(const struct scope *s, enum option_id id)
{
    const struct matrix *all = s->spec->matrix;
    for (size_t i = 0; s->of == all && i < all->n_cases; i++)
        if (matrix_gives(&all->cases[i], id))
            return NULL;
    if (matrix_axis(s->of, id) != NULL)
        return NULL;
    if (s->of->own.config.values[id].set)
        return &s->of->own.config.values[id];
    return matrix_axis(all, id) == NULL ? &s->spec->config.values[id] : NULL;
}

/* Number of nodes of a site, and number of cores per node. */
struct site_size {
    long nodes, cores;
};

static enum status refuse(enum option_id id, const char *text, struct mark mark, enum option_id why,
                          const char *what, struct error *e)
{
    return mark_error(e, ERR_SPEC, mark, "%s: '%s' depends on %s, which %s. Use a number",
                      option_get(id)->key, text, option_get(why)->key, what);
}

/* Returns the number of nodes of the config's site. For slurm: nodes of the batch job. For ssh:
 * machines in site.machines. For other sites, or if that number is unknown: 1. */
static long count_nodes(const struct scope *s, const struct config *config)
{
    const struct value *machines = single_value(s, OPT_SITE_MACHINES);
    long nodes = 0;
    if (config_int(config, OPT_SITE) == SITE_slurm)
        nodes = s->machine->nodes;
    else if (config_int(config, OPT_SITE) == SITE_ssh && machines != NULL)
        nodes = (long)machines->n;
    return nodes > 0 ? nodes : 1;
}

static enum status find_size(struct site_size *size, const struct scope *s, enum option_id id,
                             const char *text, struct mark mark, struct error *e)
{
    const struct value *site = single_value(s, OPT_SITE), *hosts = single_value(s, OPT_SITE_HOSTS);
    struct config config = {0};
    if (site == NULL)
        return refuse(id, text, mark, OPT_SITE, "varies", e);
    config.values[OPT_SITE] = *site;
    *size = (struct site_size){count_nodes(s, &config), s->machine->usable_cores};
    if (!config_site(&config)->shares_cores)
        return OK;
    if (config_is_simulated(&config))
        return refuse(id, text, mark, OPT_SITE, "is simulated", e);
    if (hosts == NULL || hosts->number == 0)
        return refuse(id, text, mark, OPT_SITE_HOSTS, hosts == NULL ? "varies" : "is not given", e);
    size->nodes = (long)hosts->number;
    size->cores = size->cores / size->nodes > 0 ? size->cores / size->nodes : 1;
    return OK;
}

/* Returns the number of ranks that fill the cores of a node, at least 1. If the number of threads
 * varies, one thread per rank is assumed. */
static long full_node(const struct scope *s, long cores)
{
    const struct value *threads = single_value(s, OPT_THREADS);
    long each = threads != NULL ? (long)threads->number : 1;
    return cores / each > 0 ? cores / each : 1;
}

static enum status resolve_word(struct value *value, enum option_id id, const struct scope *s,
                                struct error *e)
{
    struct site_size size;
    if (is_number(value->text))
        return OK;
    TRY(find_size(&size, s, id, value->text, value->mark, e));
    long full = full_node(s, size.cores), number = full;
    if (id == OPT_NODES)
        number = size.nodes;
    else if (strcmp(value->text, "half") == 0)
        number = full / 2 > 0 ? full / 2 : 1;
    return put_number(value, id, number, value->mark, e);
}

/* Removes repeated values of an axis, since `half` and `full` may resolve to the same number. Keeps
 * all values of an axis in a zip, because each value forms a tuple with values of the other
 * axes. */
static void drop_repeated(struct axis *axis)
{
    size_t n = 0;
    for (size_t i = 0; i < axis->n; i++) {
        bool known = false;
        for (size_t k = 0; k < n && axis->zip == 0; k++)
            known = known || value_equal(&axis->values[k], &axis->values[i]);
        if (known)
            value_free(&axis->values[i]);
        else
            axis->values[n++] = axis->values[i];
    }
    axis->n = n;
}

static enum status resolve_words(struct matrix *of, struct config *config, enum option_id id,
                                 const struct scope *s, struct error *e)
{
    struct axis *axis = matrix_axis(of, id);
    if (config->values[id].set)
        TRY(resolve_word(&config->values[id], id, s, e));
    if (of->has_baseline && of->baseline.config.values[id].set)
        TRY(resolve_word(&of->baseline.config.values[id], id, s, e));
    for (size_t i = 0; axis != NULL && i < axis->n; i++)
        TRY(resolve_word(&axis->values[i], id, s, e));
    if (axis != NULL)
        drop_repeated(axis);
    return OK;
}

/* ---- Batch job of several nodes ---- */

static bool is_several(const struct value *value)
{
    return value->set && (value->number > 1 || !is_number(value->text));
}

/* Returns whether a point may have several nodes: `nodes` is above 1 or depends on the machine. */
static bool needs_nodes(const struct matrix *of, const struct config *config)
{
    const struct axis *axis = matrix_axis(of, OPT_NODES);
    bool found = is_several(&config->values[OPT_NODES]) || (axis != NULL && axis->automatic);
    for (size_t i = 0; axis != NULL && i < axis->n; i++)
        found = found || is_several(&axis->values[i]);
    return found;
}

/* Unless the spec names a site, chooses site slurm if scalebench runs inside a job of several
 * nodes, or if jobs can be submitted and some point may need several nodes. */
static enum status choose_site(struct spec *spec, const struct spec_machine *machine,
                               struct error *e)
{
    struct matrix *all = spec->matrix;
    struct value *site = &spec->config.values[OPT_SITE];
    bool given = site->set || matrix_axis(all, OPT_SITE) != NULL;
    bool several = needs_nodes(all, &spec->config);
    for (size_t i = 0; i < all->n_cases; i++) {
        given = given || matrix_gives(&all->cases[i], OPT_SITE);
        several = several || needs_nodes(&all->cases[i], &all->cases[i].own.config);
    }
    if (given || !(machine->nodes > 1 || (machine->batch && several)))
        return OK;
    TRY(config_set_text(&spec->config, OPT_SITE, names_sites->names[SITE_slurm], e));
    site->set = false;
    return OK;
}

static bool gives(const struct scope *s, enum option_id id)
{
    const struct matrix *all = s->spec->matrix;
    bool by_case = s->of != all && matrix_gives(s->of, id);
    for (size_t i = 0; s->of == all && i < all->n_cases; i++)
        by_case = by_case || matrix_gives(&all->cases[i], id);
    return by_case || s->spec->config.values[id].set || matrix_axis(all, id) != NULL;
}

/* Returns the largest number of ranks in the spec or case; 0 if it is not given or depends on the
 * machine. */
static long largest(const struct scope *s)
{
    const struct axis *axis = matrix_axis(s->of, OPT_RANKS);
    const struct value *single = single_value(s, OPT_RANKS);
    double most = single != NULL && single->set ? single->number : 0;
    for (size_t i = 0; axis != NULL && i < axis->n; i++)
        most = axis->values[i].number > most ? axis->values[i].number : most;
    return (long)most;
}

/* Returns whether some point may have more ranks than cores: oversubscribe allows it, or ranks may
 * sleep instead of computing. */
static bool may_crowd(const struct scope *s)
{
    const struct value *crowd = single_value(s, OPT_OVERSUBSCRIBE),
                       *compute = single_value(s, OPT_COMPUTE);
    return matrix_axis(s->of, OPT_OVERSUBSCRIBE) != NULL ||
           matrix_axis(s->of, OPT_COMPUTE) != NULL ||
           (crowd != NULL && crowd->number == OVERSUBSCRIBE_allow) ||
           (compute != NULL && compute->number != COMPUTE_real);
}

/* Sets ranks_per_node in a Slurm job of several nodes if the spec gives only ranks or only nodes.
 * By default, the threads of a node's ranks fill its cores. If the job has too few nodes for this,
 * and ranks may outnumber cores, all nodes share the ranks evenly. */
static enum status fill_nodes(struct config *config, const struct scope *s, struct error *e)
{
    const struct value *site = single_value(s, OPT_SITE);
    long nodes = s->machine->nodes, ranks = largest(s);
    if (nodes < 2 || site == NULL || site->number != SITE_slurm || gives(s, OPT_RANKS_PER_NODE) ||
        gives(s, OPT_NODES) == gives(s, OPT_RANKS))
        return OK;
    long each = full_node(s, s->machine->usable_cores);
    return put_number(&config->values[OPT_RANKS_PER_NODE], OPT_RANKS_PER_NODE,
                      ranks > nodes * each && may_crowd(s) ? (ranks + nodes - 1) / nodes : each,
                      (struct mark){0}, e);
}

/* ---- Axes with auto ---- */

static enum status add_value(struct axis *axis, long number, struct error *e)
{
    return put_number(&axis->values[axis->n++], axis->id, number, axis->mark, e);
}

/* Fills an axis with 1 2 3 4 6 8 12 16 24 ... up to `most`, and `most` itself. */
static enum status fill_axis(struct axis *axis, long most, struct error *e)
{
    enum { LONGEST = 128 }; /* largest number of values of an axis: at most two per bit of a long */
    TRY(MEM_NEW(axis->values, LONGEST, "the matrix", e));
    TRY(add_value(axis, 1, e));
    long last = 1;
    for (long power = 2; power <= most; power *= 2) {
        TRY(add_value(axis, last = power, e));
        if (power + power / 2 <= most)
            TRY(add_value(axis, last = power + power / 2, e));
    }
    return last < most ? add_value(axis, most, e) : OK;
}

/* Sets *most to the largest number of ranks for ranks = auto: nodes times ranks_per_node (default:
 * cores per node). If the site's size is unknown, *most is the number of this machine's usable
 * cores. ERR_SPEC if the product exceeds the limit of option ranks. */
static enum status most_ranks(long *most, const struct scope *s, struct error *e)
{
    struct site_size size;
    struct error none;
    const struct value *each = single_value(s, OPT_RANKS_PER_NODE);
    const struct value *nodes = single_value(s, OPT_NODES);
    *most = s->machine->usable_cores;
    if (find_size(&size, s, OPT_RANKS, "auto", (struct mark){0}, &none) != OK)
        return OK;
    if (nodes != NULL && nodes->set && nodes->number > 0)
        size.nodes = (long)nodes->number;
    *most = size.nodes * (each != NULL && each->number > 0 ? (long)each->number : size.cores);
    double limit = option_get(OPT_RANKS)->max;
    if ((double)*most > limit)
        return error_set(e, ERR_SPEC, "ranks: auto gives %ld ranks; expected at most %.0f", *most,
                         limit);
    return OK;
}

static enum status resolve_auto(struct matrix *of, const struct scope *s, struct error *e)
{
    struct axis *ranks = matrix_axis(of, OPT_RANKS), *nodes = matrix_axis(of, OPT_NODES);
    struct site_size size;
    long most;
    if (nodes != NULL && nodes->automatic && nodes->n == 0) {
        TRY(find_size(&size, s, OPT_NODES, "auto", nodes->mark, e));
        TRY(fill_axis(nodes, size.nodes, e));
    }
    if (ranks == NULL || !ranks->automatic || ranks->n > 0)
        return OK;
    TRY(most_ranks(&most, s, e));
    return fill_axis(ranks, most, e);
}

static enum status resolve_matrix(struct spec *spec, struct matrix *of, struct config *config,
                                  const struct spec_machine *machine, struct error *e)
{
    const struct scope scope = {spec, of, machine};
    TRY(resolve_words(of, config, OPT_NODES, &scope, e));
    TRY(resolve_words(of, config, OPT_RANKS_PER_NODE, &scope, e));
    TRY(fill_nodes(config, &scope, e));
    return resolve_auto(of, &scope, e);
}

enum status nodes_resolve(struct spec *spec, const struct spec_machine *machine, struct error *e)
{
    struct matrix *all = spec->matrix;
    TRY(choose_site(spec, machine, e));
    TRY(resolve_matrix(spec, all, &spec->config, machine, e));
    for (size_t i = 0; i < all->n_cases; i++)
        TRY(resolve_matrix(spec, &all->cases[i], &all->cases[i].own.config, machine, e));
    return OK;
}

/* ---- Ranks and nodes of a point ---- */

/* Requested ranks, nodes and ranks per node; 0 if not requested. */
struct counts {
    long ranks, nodes, each;
};

static long over(long ranks, long each)
{
    return (ranks + each - 1) / each;
}

/* If `ranks` or `nodes` is 0, derives this count from the other counts. A count that cannot be
 * derived becomes 1. */
static struct counts complete(struct counts c)
{
    if (c.each > 0 && c.ranks == 0)
        c.ranks = c.each * (c.nodes > 0 ? c.nodes : 1);
    if (c.each > 0 && c.nodes == 0)
        c.nodes = over(c.ranks, c.each);
    c.ranks = c.ranks > 0 ? c.ranks : 1;
    c.nodes = c.nodes > 0 ? c.nodes : 1;
    return c;
}

/* Checks that nodes and ranks per node do not exceed their largest allowed values. */
static enum status check_fits(const struct counts *c, const struct config *config, struct error *e)
{
    struct mark mark = config->values[OPT_RANKS].mark;
    double nodes = option_get(OPT_NODES)->max, each = option_get(OPT_RANKS_PER_NODE)->max;
    if ((double)c->nodes > nodes)
        return mark_error(e, ERR_SPEC, mark,
                          "ranks = %ld with ranks_per_node = %ld need %ld nodes, expected at most "
                          "%.0f. Use a larger ranks_per_node",
                          c->ranks, c->each, c->nodes, nodes);
    if ((double)over(c->ranks, c->nodes) > each)
        return mark_error(e, ERR_SPEC, mark,
                          "ranks = %ld on nodes = %ld make %ld ranks per node, expected at most "
                          "%.0f. Use more nodes",
                          c->ranks, c->nodes, over(c->ranks, c->nodes), each);
    return OK;
}

static enum status check(const struct counts *c, const struct config *config, struct error *e)
{
    const struct value *each = &config->values[OPT_RANKS_PER_NODE];
    char ranks[MARK_TEXT_BYTES], nodes[MARK_TEXT_BYTES];
    double most = option_get(OPT_RANKS)->max;
    if ((double)c->ranks > most)
        return mark_error(
            e, ERR_SPEC, each->mark,
            "ranks_per_node = %ld on nodes = %ld make %ld ranks, expected at most %.0f", c->each,
            c->nodes, c->ranks, most);
    TRY(check_fits(c, config, e));
    if (c->each == 0 || c->nodes == over(c->ranks, c->each))
        return OK;
    return mark_error(e, ERR_SPEC, each->mark,
                      "ranks_per_node = %ld and ranks = %ld (%s) contradict nodes = %ld (%s): the "
                      "ranks fill %ld nodes. Remove one of the three options",
                      c->each, c->ranks, mark_text(ranks, config->values[OPT_RANKS].mark), c->nodes,
                      mark_text(nodes, config->values[OPT_NODES].mark), over(c->ranks, c->each));
}

static enum status store(struct config *config, struct counts c, const struct spec *spec,
                         struct error *e)
{
    TRY(set_number(config, OPT_RANKS, c.ranks, e));
    TRY(set_number(config, OPT_NODES, c.nodes, e));
    TRY(set_number(config, OPT_RANKS_PER_NODE, over(c.ranks, c.nodes), e));
    for (enum option_id id = 0; id < OPTION_COUNT; id++)
        if (!config_concerns(config, id))
            config_put(config, id, &spec->presets.values[id]);
    return OK;
}

static enum status finish(struct config *config, struct counts asked, const struct spec *spec,
                          struct error *e)
{
    struct counts c = complete(asked);
    TRY(check(&c, config, e));
    return store(config, c, spec, e);
}

static long given(const struct config *config, enum option_id id)
{
    return config->values[id].set ? config_int(config, id) : 0;
}

static struct counts asked_of(const struct config *config)
{
    return (struct counts){given(config, OPT_RANKS), given(config, OPT_NODES),
                           given(config, OPT_RANKS_PER_NODE)};
}

enum status nodes_resolve_point(struct config *config, const struct spec *spec, struct error *e)
{
    return finish(config, asked_of(config), spec, e);
}

enum status nodes_resolve_base(struct config *config, const struct config *baseline,
                               const struct spec *spec, struct error *e)
{
    struct counts asked = asked_of(baseline), c = asked;
    bool by_node = given(config, OPT_RANKS_PER_NODE) > 0;
    if (asked.each == 0 && by_node && (asked.ranks == 0 || asked.nodes == 0))
        c.each = config_int(config, OPT_RANKS_PER_NODE);
    if (asked.ranks == 0 && (c.each == 0 || asked.nodes == 0))
        c.ranks = config_int(config, OPT_RANKS);
    if (asked.nodes == 0 && c.each == 0)
        c.nodes = config_int(config, OPT_NODES) < c.ranks ? config_int(config, OPT_NODES) : c.ranks;
    return finish(config, c, spec, e);
}
