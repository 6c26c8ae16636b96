/* Measures alpha, beta and gamma of this machine (comm/cost/sweep.h). Messages go back and forth
 * between the first and the last rank. Then all ranks add vectors at the same time. Each round is
 * fitted separately, so that coefficients get confidence intervals. */
#include <math.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "bench/workloads/sweeps/comm/sweep.h"
#include "bench/workloads/sweeps/file.h"
#include "comm/local_ops.h"
#include "kernels/base/clock.h"
#include "kernels/base/mem.h"
#include "kernels/base/text.h"

/* Sizes of messages and vectors: 4 B to 16 MiB, by factors of 4. Sizes from FIRST_LONG on are 64
 * KiB or more. The fit of gamma (seconds per byte added) uses only these, since shorter vectors fit
 * in the first-level cache. find_paces also uses only these, since times of shorter messages are
 * means of several round trips, which hide scatter. */
enum { SIZES = 12, FIRST_LONG = SIZES - ADDITIONS, REPEATS_MOST = 64 };

/* Largest number of rounds. 100 rounds give narrow intervals; more rounds would only take
 * longer. */
enum { ROUNDS_MOST = 100 };

static int rounds_of(const struct sweep *s)
{
    return s->options->rounds < ROUNDS_MOST ? s->options->rounds : ROUNDS_MOST;
}
#define REPEAT_BYTES ((size_t)64 << 10)

struct samples {
    real *mine, *other;         /* [elements of the largest message] data to send, data received */
    double *message, *addition; /* [rounds][SIZES] seconds per message and per addition */
    struct mem_room memory;
};

static size_t bytes_of(int size)
{
    return (size_t)4 << (2 * size);
}

static int repeats_of(int size)
{
    size_t repeats = REPEAT_BYTES / bytes_of(size) + 1;
    return repeats < REPEATS_MOST ? (int)repeats : REPEATS_MOST;
}

/* ---- One sample ---- */

/* Sends one message to rank `to`. All ranks must call it. The first and the last rank send to each
 * other; all others pass `to` = -1 and send nothing. */
static enum status send_one(struct sweep *s, real *data, size_t bytes, int to, struct error *e)
{
    struct message m = {.data = data, .bytes = bytes, .rank = to};
    return wait_send(&s->waiter, &m, to >= 0, MPI_COMM_WORLD, "ping-pong", e);
}

static enum status receive_one(struct sweep *s, real *data, size_t bytes, int from, struct error *e)
{
    struct message m = {.data = data, .bytes = bytes, .rank = from};
    return wait_receive(&s->waiter, &m, from >= 0, MPI_COMM_WORLD, "ping-pong", e);
}

/* Sets *seconds to half the mean time of a round trip between the first and the last rank; to 0 on
 * ranks other than 0. */
static enum status time_message(struct sweep *s, struct samples *x, int size, double *seconds,
                                struct error *e)
{
    int last = s->ranks - 1, repeats = repeats_of(size);
    int partner = s->rank == 0 ? last : s->rank == last ? 0 : -1;
    size_t bytes = bytes_of(size);
    TRY(wait_barrier(&s->waiter, MPI_COMM_WORLD, "beginning of a ping-pong", e));
    int64_t begin_ns = clock_ns();
    for (int i = 0; i < repeats; i++) {
        if (s->rank == 0)
            TRY(send_one(s, x->mine, bytes, partner, e));
        TRY(receive_one(s, x->other, bytes, partner, e));
        if (s->rank > 0)
            TRY(send_one(s, x->mine, bytes, partner, e));
    }
    *seconds = s->rank == 0 ? 1e-9 * (double)(clock_ns() - begin_ns) / (2 * repeats) : 0;
    return OK;
}

static enum status time_addition(struct sweep *s, struct samples *x, int size, double *seconds,
                                 struct error *e)
{
    int repeats = repeats_of(size);
    size_t n = bytes_of(size) / sizeof(real);
    TRY(wait_barrier(&s->waiter, MPI_COMM_WORLD, "beginning of sums", e));
    int64_t begin_ns = clock_ns();
    for (int i = 0; i < repeats; i++)
        local_add(&s->exec, x->mine, x->other, n);
    *seconds = 1e-9 * (double)(clock_ns() - begin_ns) / repeats;
    return OK;
}

/* ---- All samples ---- */

static enum status samples_open(struct samples *x, int rounds, struct error *e)
{
    size_t n = bytes_of(SIZES - 1) / sizeof(real), times = (size_t)rounds * SIZES;
    TRY(MEM_KEEP(&x->memory, x->mine, n, "messages", e));
    TRY(MEM_KEEP(&x->memory, x->other, n, "messages", e));
    TRY(MEM_KEEP(&x->memory, x->message, times, "the times of messages", e));
    return MEM_KEEP(&x->memory, x->addition, times, "the times of sums", e);
}

static enum status take_round(struct sweep *s, struct samples *x, int round, struct error *e)
{
    for (int size = 0; size < SIZES; size++) {
        if (s->ranks > 1)
            TRY(time_message(s, x, size, &x->message[round * SIZES + size], e));
        TRY(time_addition(s, x, size, &x->addition[round * SIZES + size], e));
    }
    return OK;
}

/* Measures all sizes in all rounds. The first round is a warm-up and is overwritten. */
static enum status take_samples(struct sweep *s, struct samples *x, struct error *e)
{
    int rounds = rounds_of(s);
    size_t n = (size_t)rounds * SIZES;
    TRY(take_round(s, x, 0, e));
    for (int round = 0; round < rounds; round++)
        TRY(take_round(s, x, round, e));
    TRY(wait_allreduce(&s->waiter, x->message, n, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD,
                       "times of messages", e));
    return wait_allreduce(&s->waiter, x->addition, n, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD,
                          "times of sums", e);
}

/* ---- Coefficients ---- */

static struct interval interval_of(const double *seconds, int size, int rounds)
{
    double x[rounds];
    for (int t = 0; t < rounds; t++)
        x[t] = seconds[t * SIZES + size];
    return stats_median_interval(x, (size_t)rounds, 0.95);
}

/* Fits a line (seconds over bytes) to sizes [first, SIZES) of each round. Sets *intercept and
 * *slope to the medians over rounds, with 95 % intervals. */
static void fit_rounds(const double *seconds, int rounds, int first, bool through_origin,
                       struct interval *intercept, struct interval *slope)
{
    double bytes[SIZES], intercepts[rounds], slopes[rounds];
    for (int i = 0; i < SIZES; i++)
        bytes[i] = (double)bytes_of(i);
    for (int t = 0; t < rounds; t++) {
        const double *y = seconds + t * SIZES + first;
        struct line line = through_origin
                               ? stats_fit_slope(bytes + first, y, (size_t)(SIZES - first))
                               : stats_fit_line(bytes + first, y, (size_t)(SIZES - first));
        intercepts[t] = line.intercept;
        slopes[t] = line.slope;
    }
    *intercept = stats_median_interval(intercepts, (size_t)rounds, 0.95);
    *slope = stats_median_interval(slopes, (size_t)rounds, 0.95);
}

/* Sets `found` to percentiles of the times of long messages. Each time is first divided by the
 * median time of its message size. */
static void find_paces(double found[LINK_PACES], const double *seconds, int rounds)
{
    double paces[rounds * ADDITIONS];
    int n = 0;
    for (int size = FIRST_LONG; size < SIZES; size++) {
        double median_s = interval_of(seconds, size, rounds).mid;
        for (int t = 0; t < rounds; t++)
            paces[n++] = seconds[t * SIZES + size] / median_s;
    }
    for (int i = 0; i < LINK_PACES; i++)
        found[i] = stats_quantile(paces, (size_t)n, link_percentiles[i] / 100);
}

static void fit(const struct sweep *s, const struct samples *x, struct link_fit *f)
{
    struct interval none;
    int rounds = rounds_of(s);
    fit_rounds(x->message, rounds, 0, false, &f->alpha_s, &f->beta_s);
    fit_rounds(x->addition, rounds, FIRST_LONG, true, &none, &f->gamma_s);
}

static void set_model(struct sweep *s)
{
    s->link = (struct link_model){
        .alpha_s = s->fit.alpha_s.mid, .beta_s = s->fit.beta_s.mid, .gamma_s = s->fit.gamma_s.mid};
}

static enum status measure(struct sweep *s, struct samples *x, struct error *e)
{
    int rounds = rounds_of(s);
    TRY(samples_open(x, rounds, e));
    TRY(take_samples(s, x, e));
    fit(s, x, &s->fit);
    set_model(s);
    if (s->ranks > 1)
        find_paces(s->fit.paces, x->message, rounds);
    for (int i = FIRST_LONG; i < SIZES; i++)
        s->additions[i - FIRST_LONG] =
            (struct addition){(double)bytes_of(i), interval_of(x->addition, i, rounds).mid};
    if (s->options->compares || !link_is_swept(s->options))
        return OK;
    for (int i = 0; s->ranks > 1 && i < SIZES; i++)
        sweep_print_link(s, "message", bytes_of(i), interval_of(x->message, i, rounds),
                         s->link.alpha_s + (double)bytes_of(i) * s->link.beta_s);
    for (int i = FIRST_LONG; i < SIZES; i++)
        sweep_print_link(s, "addition", bytes_of(i), interval_of(x->addition, i, rounds),
                         (double)bytes_of(i) * s->link.gamma_s);
    return OK;
}

enum status link_measure(struct sweep *s, struct error *e)
{
    struct samples x = {0};
    enum status status = measure(s, &x, e);
    mem_room_empty(&x.memory);
    return status;
}

bool link_is_swept(const struct sweep_options *o)
{
    return strcmp(o->gradients, "link") == 0;
}

/* ---- The file ---- */

struct link_csv {
    FILE *out;
    const char *link; /* name of the link */
};

static void write_row(const struct link_csv *csv, const char *name, const char *value, double lo,
                      double hi)
{
    const struct link_row row = {csv->link, name, value, lo, hi};
    csv_write_row(csv->out, &sweep_files[SWEEP_LINK], &row);
}

static void write_number(const struct link_csv *csv, const char *name, double value)
{
    char text[TEXT_NUMBER];
    write_row(csv, name, text_real(text, value), NAN, NAN);
}

static void write_coefficient(const struct link_csv *csv, const char *name, struct interval i,
                              double factor)
{
    char text[TEXT_NUMBER];
    if (isfinite(i.mid))
        write_row(csv, name, text_real(text, factor * i.mid), factor * i.lo, factor * i.hi);
}

static void write_paces(const struct link_csv *csv, const struct link_fit *fit)
{
    char name[LINK_PACE_NAME];
    for (int i = 0; i < LINK_PACES && fit->paces[i] > 0; i++)
        write_number(csv, link_pace_name(name, i), fit->paces[i]);
}

/* Writes the rows of link.csv about the measurement: host, date, ranks and nodes. */
static void write_origin(const struct link_csv *csv, const struct sweep *s)
{
    char host[256] = "", date[32];
    time_t now = time(NULL);
    struct tm utc;
    gethostname(host, sizeof host - 1);
    strftime(date, sizeof date, "%Y-%m-%d %H:%M UTC", gmtime_r(&now, &utc));
    write_number(csv, "ranks", s->ranks);
    write_number(csv, "nodes", s->nodes);
    write_row(csv, "host", host, NAN, NAN);
    write_row(csv, "date", date, NAN, NAN);
}

enum status link_write(const struct sweep *s, struct error *e)
{
    struct sweep_file file;
    if (s->options->record == NULL || s->rank > 0)
        return OK;
    TRY(sweep_file_open(&file, s->options->record, "link.csv", e));
    const struct link_csv csv = {file.out, s->options->name};
    csv_write_header(file.out, &sweep_files[SWEEP_LINK]);
    write_coefficient(&csv, "alpha_us", s->fit.alpha_s, 1e6);
    write_coefficient(&csv, "beta_ns_per_byte", s->fit.beta_s, 1e9);
    write_coefficient(&csv, "gamma_ns_per_byte", s->fit.gamma_s, 1e9);
    write_paces(&csv, &s->fit);
    write_origin(&csv, s);
    return sweep_file_close(&file, OK, e);
}
