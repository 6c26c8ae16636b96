/* Forecasts the time of launches and of a campaign. */
#include "bench/forecast/forecast.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bench/figures/prediction.h"
#include "bench/spec/points/points.h"
#include "kernels/base/mem.h"
#include "kernels/desc/net_slice.h"

/* Values assumed if nothing was measured: memory bandwidth of a current server (bytes/s), overhead
 * per step (s), start-up time of the ranks (s) and of a peer with its libraries (s). */
#define BYTE_PER_S   5e9
#define STEP_S       100e-6
#define START_S      0.5
#define PEER_START_S 5.0
/* Values assumed for the wall time of simulating a launch: start-up time (s), largest number of
 * message rounds per step, and time per round and rank (s). */
#define SIMULATION_S      0.1
#define SIMULATED_ROUNDS  100
#define SIMULATED_ROUND_S 0.2e-6
const struct link_model forecast_memory = {.alpha_s = 2e-6, .beta_s = 0.2e-9, .gamma_s = 0.2e-9};
static const struct link_model network = {.alpha_s = 50e-6, .beta_s = 8e-9, .gamma_s = 0.2e-9};

/* Sums over a point's launches. sum_s, n: total time and number of finished launches of each kind
 * (enum launch_run). step_s: sum of the step times of `steps` timed launches. */
struct walls {
    double sum_s[2], step_s;
    size_t n[2], steps;
    double timed_s; /* time of all ended timed launches that are not outdated, including failed ones
                       (s) */
};

struct sources {
    /* [n_points + 1] sums over the launches of each point; last element: launches of points that
     * are not in the spec */
    struct walls *walls;
    struct known_steps known;
    int cores;    /* number of usable cores of this machine */
    bool resumes; /* whether the run with the launches in `walls` will be resumed */
};

/* ---- Launches of the same point ---- */

static void add_walls(struct walls *walls, const struct spec *spec, const struct journal *journal)
{
    for (size_t i = 0; i < journal->n_launches; i++) {
        const struct journal_launch *l = &journal->launches[i];
        struct walls *w = &walls[spec_find_point(spec, l->point)];
        if (l->status != LAUNCH_RUNNING && !l->outdated && l->run == RUN_TIME)
            w->timed_s += l->wall_s;
        if (!launch_is_done(l) || l->outdated)
            continue;
        w->sum_s[l->run] += l->wall_s;
        w->n[l->run]++;
        if (l->run == RUN_TIME && l->step_ms > 0) {
            w->step_s += l->step_ms / 1e3;
            w->steps++;
        }
    }
}

/* Reads the launches of the run to resume, or of the latest run if no run can be resumed. */
static enum status read_walls(struct sources *s, const struct campaign *c, struct error *e)
{
    char run_dir[PATH_BYTES];
    struct journal earlier;
    TRY(MEM_NEW(s->walls, c->spec.n_points + 1, "a forecast", e));
    TRY(campaign_find_run(c, run_dir, e));
    s->resumes = run_dir[0] != '\0';
    if (!s->resumes)
        TRY(path_format(run_dir, e, "%s/%s/latest", c->request->out,
                        config_text(&c->spec.config, OPT_NAME)));
    TRY(journal_open(&earlier, run_dir, false, e));
    add_walls(s->walls, &c->spec, &earlier);
    journal_close(&earlier);
    return OK;
}

/* ---- Steps ---- */

/* Returns the number of threads that compute at the same time, over all ranks: at most one per
 * core. In timed launches with replayed compute, ranks sleep and need no cores, so all threads
 * count. */
static double cores_of(const struct config *c, enum launch_run run, int cores)
{
    double wanted = config_number(c, OPT_RANKS) * config_number(c, OPT_THREADS);
    double there = cores * (config_site(c)->shares_cores ? 1 : config_number(c, OPT_NODES));
    return run == RUN_TIME && config_replays(c) ? wanted : fmin(wanted, there);
}

/* Bytes of a full Ethernet packet without preamble, and of its TCP payload. The token bucket of
 * ci/netns.sh counts the headers: 14 (Ethernet) + 20 (IP) + 32 (TCP with time stamp). */
#define PACKET_BYTES  1514.0
#define PAYLOAD_BYTES 1448.0
/* The token bucket of ci/netns.sh has a capacity of BUCKET_S (s) times the link's rate, but at
 * least BUCKET_BYTES (bytes). */
#define BUCKET_BYTES 65536.0
#define BUCKET_S     2.097152e-3
/* Largest number of bytes that Linux keeps in the send buffer of a TCP connection
 * (net.ipv4.tcp_wmem). */
#define SOCKET_BYTES 4194304.0

void forecast_emulate(struct sweep_machine *machine, const struct config *c)
{
    double byte_s = config_link_s_per_byte(c);
    machine->network.beta_s = byte_s * PACKET_BYTES / PAYLOAD_BYTES;
    machine->burst_s = fmax(BUCKET_S, BUCKET_BYTES * byte_s);
    machine->socket_bytes = SOCKET_BYTES;
    machine->receives_freely = true;
}

struct sweep_machine forecast_simulated(const struct config *c, const struct link_model *memory)
{
    const struct link_model between = {.alpha_s = memory->alpha_s, .gamma_s = memory->gamma_s};
    struct sweep_machine machine = prediction_machine(c, memory, &between);
    machine.network.beta_s = config_link_s_per_byte(c);
    if (config_int(c, OPT_SITE_MODEL) == SITE_MODEL_emulated)
        forecast_emulate(&machine, c);
    machine.delay_s = config_link_delay_s(c);
    prediction_take_link(&machine, c);
    machine.leaf_hosts = (int)config_int(c, OPT_SITE_LEAF_HOSTS);
    machine.leaf_spines = machine.leaf_hosts / (int)config_int(c, OPT_SITE_OVERSUBSCRIPTION);
    return machine;
}

struct sweep_machine forecast_machine(const struct config *c)
{
    if (config_is_simulated(c))
        return forecast_simulated(c, &forecast_memory);
    struct sweep_machine machine = prediction_machine(c, &forecast_memory, &network);
    if (config_site(c)->shares_cores) {
        machine.network.beta_s = config_link_s_per_byte(c);
        machine.delay_s = config_link_delay_s(c);
        machine.receives_freely = true;
    }
    return machine;
}

static enum status estimate_comm(double *comm_s, const struct point *point, struct error *e)
{
    const struct sweep_machine machine = forecast_machine(&point->config);
    double comm_ms = 0;
    if (config_int(&point->config, OPT_RANKS) > 1)
        TRY(prediction_comm_ms(&comm_ms, point, sizeof(float), &machine, e));
    *comm_s = comm_ms / 1e3;
    return OK;
}

/* Counts the weights that all ranks together hold, as if ZeRO sharded no parameters. The stages of
 * a pipeline divide one copy of the network. Tensor slices divide only the dense layers. */
static enum status count_weights(double *n, const struct point *point, struct error *e)
{
    const struct config *c = &point->config;
    struct net_desc held;
    TRY(net_desc_slice(&held, &point->net->net, 0, (int)config_int(c, OPT_TENSOR), e));
    *n = (double)held.n_params * config_number(c, OPT_RANKS) / config_number(c, OPT_PIPELINE);
    net_desc_free(&held);
    return OK;
}

/* Estimates a step's compute time (s) without measurements, from a constant overhead, FLOPs and six
 * memory accesses per stored weight. */
static enum status assume_compute_s(double *compute_s, const struct point *point, double flops,
                                    double cores, struct error *e)
{
    double weights;
    TRY(count_weights(&weights, point, e));
    *compute_s =
        STEP_S + flops / (FORECAST_FLOP_PER_S * cores) + 6.0 * sizeof(float) * weights / BYTE_PER_S;
    return OK;
}

static enum status estimate_step(double *step_s, const struct point *point,
                                 const struct known_steps *known, double cores, struct error *e)
{
    const struct net_desc *net = &point->net->net;
    double flops =
        (double)(net->flops_forward + net->flops_backward) * config_images(&point->config);
    double rate = known_steps_rate(known, config_text(&point->config, OPT_WORKLOAD), flops);
    double compute_s = flops / (rate * cores);
    if (isnan(rate))
        TRY(assume_compute_s(&compute_s, point, flops, cores, e));
    TRY(estimate_comm(step_s, point, e));
    *step_s += compute_s;
    return OK;
}

/* Estimates the point's step time (s) from `other`, a step of another campaign, scaled by images
 * per core and machine speed. If `other` communicates differently, scales only its compute time and
 * predicts the communication time. */
static enum status take_step(double *step_s, const struct point *point,
                             const struct known_steps *known, const struct known_step *other,
                             double cores, struct error *e)
{
    double share = config_images(&point->config) / other->images * other->cores / cores /
                   known_steps_speed(known, other);
    if (known_step_communicates_as(other, point)) {
        *step_s = share * other->step_s;
        return OK;
    }
    TRY(estimate_comm(step_s, point, e));
    *step_s += share * other->compute_s;
    return OK;
}

/* Finds the point's step time (s): from its own timed launches unless they replay compute,
 * otherwise from another campaign, otherwise as a rough estimate. */
static enum status find_step(double *step_s, struct forecast_launch *l, const struct sources *s,
                             const struct forecast *f, size_t point, enum launch_run run,
                             struct error *e)
{
    const struct point *p = &f->c->spec.points[point];
    const struct walls *own = &s->walls[point];
    const struct known_step *other = known_steps_find(&s->known, p);
    double cores = cores_of(&p->config, run, s->cores);
    if (own->steps > 0 && !config_replays(&p->config)) {
        l->basis = BASIS_own;
        *step_s = own->step_s / (double)own->steps;
        return OK;
    }
    if (other == NULL) {
        l->basis = BASIS_rough;
        return estimate_step(step_s, p, &s->known, cores, e);
    }
    l->basis = BASIS_elsewhere;
    snprintf(l->from, sizeof l->from, "%s", other->from);
    return take_step(step_s, p, &s->known, other, cores, e);
}

/* ---- Launches ---- */

/* Returns the number of steps of a launch; NAN: unknown. For an accuracy run on a user's own data
 * set, computes it from the number of training images that the trainer has reported. In this case,
 * each evaluation counts as a sixth of an epoch. */
static double steps_of(const struct campaign *c, const struct point *point, enum launch_run run)
{
    const struct config *config = &point->config;
    double steps = run == RUN_TIME ? config_launch_steps(config) : config_run_steps(config);
    double images = workloads_train_images(&c->workloads, point);
    if (run == RUN_TIME || !isnan(steps))
        return steps;
    double epochs = config_number(config, OPT_EPOCHS);
    return 7.0 / 6 * epochs * ceil(images / config_images_taken(config));
}

/* Returns the mean of an injected sleep (s); 0 if no sleep is injected. For a Pareto distribution
 * without a finite mean, returns its minimum. */
static double sleep_s(const struct config *c)
{
    double shape = config_number(c, OPT_INJECT_SHAPE), sleep = config_number(c, OPT_INJECT_SLEEP);
    switch ((enum inject_kind)config_int(c, OPT_INJECT_KIND)) {
    case INJECT_none:
    case INJECT_kill:
        return 0;
    case INJECT_pareto:
        return shape > 1 ? sleep * shape / (shape - 1) : sleep;
    default:
        return sleep;
    }
}

/* Returns the time (s) that injected sleeps add to a launch of `steps` steps. A rough forecast:
 * counts the sleeps even if inject.ranks lists no rank of the launch. */
static double slept_of(const struct config *c, double steps)
{
    const struct value *chosen = &c->values[OPT_INJECT_STEPS];
    double each = fmax(0, fmin(steps, chosen->number_hi) - chosen->number + 1);
    return (reader_is_each_step(c) ? each : fmin(each, reader_count_sleeps(c))) * sleep_s(c);
}

static double start_s(const struct config *c, int cores)
{
    double turns = fmax(1, config_number(c, OPT_RANKS) / cores);
    return turns * (config_is_peer(c) ? PEER_START_S : START_S);
}

/* Returns the wall time to simulate a launch (s). Assumes 2 * ranks rounds of messages per step, as
 * in a ring, but at most SIMULATED_ROUNDS. */
static double simulated_s(const struct config *c)
{
    double ranks = config_number(c, OPT_RANKS), steps = config_number(c, OPT_TIME_STEPS);
    return SIMULATION_S + steps * ranks * fmin(2 * ranks, SIMULATED_ROUNDS) * SIMULATED_ROUND_S;
}

static enum status forecast_launch(struct forecast_launch *l, const struct sources *s,
                                   const struct forecast *f, size_t point, enum launch_run run,
                                   struct error *e)
{
    const struct point *p = &f->c->spec.points[point];
    const struct walls *own = &s->walls[point];
    double step_s;
    *l = (struct forecast_launch){.seconds = NAN, .basis = BASIS_unknown};
    if (own->n[run] > 0) {
        l->basis = BASIS_own;
        l->seconds = own->sum_s[run] / (double)own->n[run];
        return OK;
    }
    if (config_is_foreign(&p->config))
        return OK;
    if (config_is_simulated(&p->config)) {
        l->basis = BASIS_rough;
        l->seconds = simulated_s(&p->config);
        return OK;
    }
    TRY(find_step(&step_s, l, s, f, point, run, e));
    double steps = steps_of(f->c, p, run);
    double slept_s = l->basis == BASIS_own ? 0 : slept_of(&p->config, steps);
    l->seconds = start_s(&p->config, s->cores) + steps * step_s + slept_s;
    if (isnan(l->seconds))
        l->basis = BASIS_unknown;
    return OK;
}

static enum status forecast_point(struct forecast *f, size_t i, const struct sources *s,
                                  struct error *e)
{
    const struct campaign *c = f->c;
    struct forecast_point *p = &f->points[i];
    const struct walls *own = &s->walls[i];
    p->runs = c->refusals[i][0] == '\0' && c->spec.points[i].twin == i;
    if (!p->runs)
        return OK;
    p->forecasts_memory = point_forecasts_memory(&c->spec.points[i]);
    if (p->forecasts_memory)
        TRY(point_memory(&p->memory, &c->spec.points[i], sizeof(float), e));
    p->least[RUN_TIME] = launch_points_sure(&(struct launch_points){.spec = &c->spec});
    p->most = (size_t)c->spec.config.values[OPT_TIME_LAUNCHES].number_hi;
    if (config_wants_accuracy(&c->spec.points[i].config))
        p->least[RUN_ACCURACY] = c->spec.config.values[OPT_ACCURACY_SEEDS].n;
    for (int run = 0; run < 2; run++) {
        size_t most = run == RUN_TIME ? p->most : p->least[run];
        if (s->resumes)
            p->done[run] = own->n[run] < most ? own->n[run] : most;
        TRY(forecast_launch(&p->launch[run], s, f, i, (enum launch_run)run, e));
    }
    return OK;
}

/* ---- The campaign ---- */

/* Returns the time of n launches (s); 0 if n is 0, even if the time of one launch is unknown. */
static double take_s(const struct forecast_point *p, enum launch_run run, double n)
{
    return n > 0 ? n * p->launch[run].seconds : 0;
}

/* Returns whether the point's first timed launch is still pending. This launch runs even if the
 * budget is used up. */
static bool has_first_left(const struct forecast_point *p)
{
    return p->least[RUN_TIME] > 0 && p->done[RUN_TIME] == 0;
}

/* Returns the time (s) of the point's pending timed launches, excluding its first timed launch, if
 * the point gets `launches` timed launches in all. */
static double further_s(const struct forecast_point *p, size_t launches)
{
    size_t before = p->done[RUN_TIME] > 0 ? p->done[RUN_TIME] : 1;
    return launches > before ? take_s(p, RUN_TIME, (double)(launches - before)) : 0;
}

/* Returns the time (s) of pending runs: accuracy runs, the first timed launch, and `share` (0 to 1)
 * of the other timed launches. `launches`: timed launches of the point in all. */
static double left_s(const struct forecast_point *p, size_t launches, double share)
{
    size_t accuracy = p->least[RUN_ACCURACY] - p->done[RUN_ACCURACY];
    return take_s(p, RUN_ACCURACY, (double)accuracy) + take_s(p, RUN_TIME, has_first_left(p)) +
           share * further_s(p, launches);
}

static double done_s(const struct forecast_point *p)
{
    return take_s(p, RUN_ACCURACY, (double)p->done[RUN_ACCURACY]) +
           take_s(p, RUN_TIME, (double)p->done[RUN_TIME]);
}

static double known_or_0(double seconds)
{
    return isnan(seconds) ? 0 : seconds;
}

/* Computes the share (0 to 1) of pending timed launches for which the budget suffices. A point's
 * first launch is not among them, since it always runs. *least: share if each point gets its
 * required number of launches. *most: share if each point gets its largest number. `spent_s` and
 * pending first launches reduce the budget. */
static void find_shares(double *least, double *most, const struct forecast *f, double spent_s)
{
    double room = config_number(&f->c->spec.config, OPT_BUDGET) - spent_s, few = 0, many = 0;
    for (size_t i = 0; i < f->c->spec.n_points; i++) {
        const struct forecast_point *p = &f->points[i];
        room -= known_or_0(take_s(p, RUN_TIME, has_first_left(p)));
        few += known_or_0(further_s(p, p->least[RUN_TIME]));
        many += known_or_0(further_s(p, p->most));
    }
    room = fmax(0, room);
    *least = few > room ? room / few : 1;
    *most = many > room ? room / many : 1;
}

/* Returns the time that the run to be resumed has spent on timed launches (s); 0 if no run is
 * resumed. */
static double spent_s(const struct sources *s, const struct spec *spec)
{
    double sum = 0;
    for (size_t i = 0; s->resumes && i < spec->n_points; i++)
        sum += s->walls[i].timed_s;
    return sum;
}

/* Returns the least reliable basis among a point's required launches. */
static enum forecast_basis basis_of(const struct forecast_point *p)
{
    enum forecast_basis worst = BASIS_own;
    for (int run = 0; run < 2; run++)
        if (p->least[run] > 0 && p->launch[run].basis > worst)
            worst = p->launch[run].basis;
    return worst;
}

/* Appends a campaign's name to a list, unless the list contains it or is full. */
static void add_name(char *names, size_t size, const char *name)
{
    size_t used = strlen(names), length = strlen(name);
    for (const char *at = names; (at = strstr(at, name)) != NULL; at += length)
        if ((at == names || at[-1] == ' ') && (at[length] == '\0' || at[length] == ','))
            return;
    if (used + length + 3 < size)
        snprintf(names + used, size - used, "%s%s", used > 0 ? ", " : "", name);
}

static void add_up(struct forecast *f, double spent_s)
{
    double least, most;
    find_shares(&least, &most, f, spent_s);
    for (size_t i = 0; i < f->c->spec.n_points; i++) {
        struct forecast_point *p = &f->points[i];
        if (!p->runs)
            continue;
        p->left_s = left_s(p, p->least[RUN_TIME], least);
        p->cut_s = (1 - least) * further_s(p, p->least[RUN_TIME]);
        p->least_s = done_s(p) + p->left_s;
        p->most_s = done_s(p) + left_s(p, p->most, most);
        f->least_s += known_or_0(p->least_s);
        f->most_s += known_or_0(p->most_s);
        f->left_s += known_or_0(p->left_s);
        f->cut_s += known_or_0(p->cut_s);
        f->n[basis_of(p)]++;
        for (int run = 0; run < 2; run++)
            if (p->least[run] > 0 && p->launch[run].basis == BASIS_elsewhere)
                add_name(f->from, sizeof f->from, p->launch[run].from);
    }
}

static enum status find_all(struct forecast *f, struct sources *s, struct error *e)
{
    const struct campaign *c = f->c;
    struct place_machine machine = place_machine(c->place);
    s->cores = machine.usable_cores;
    TRY(read_walls(s, c, e));
    TRY(known_steps_read(&s->known, c->request->out, c->tools->home, &machine, e));
    TRY(MEM_NEW(f->points, c->spec.n_points, "a forecast", e));
    for (size_t i = 0; i < c->spec.n_points; i++)
        TRY(forecast_point(f, i, s, e));
    add_up(f, spent_s(s, &c->spec));
    return OK;
}

enum status forecast_make(struct forecast *f, const struct campaign *c, struct error *e)
{
    struct sources s = {.walls = NULL};
    *f = (struct forecast){.c = c};
    enum status status = find_all(f, &s, e);
    known_steps_free(&s.known);
    free(s.walls);
    return status;
}

void forecast_free(struct forecast *f)
{
    free(f->points);
    f->points = NULL;
}
