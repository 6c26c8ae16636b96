#include <stdlib.h>
#include <string.h>

#include "bench/workloads/sweeps/comm/sweep.h"
#include "bench/workloads/sweeps/options.h"

#define SIZE_LEAST 4
#define SIZE_MOST  ((size_t)1 << 32) /* a call counts numbers in an int */

static const char *const WAITS[] = {"block", "poll", "yield"};

static const struct option KNOWN[] = {
    {"sizes", required_argument, NULL, 's'},
    {"models", required_argument, NULL, 'm'},
    {"strategies", required_argument, NULL, 'g'},
    {"compress", required_argument, NULL, 'c'},
    {"compare", required_argument, NULL, 'p'},
    {"turns", required_argument, NULL, 't'},
    {"wait", required_argument, NULL, 'w'},
    {"memory", required_argument, NULL, 'y'},
    {"spoil", required_argument, NULL, 'x'},
    {"link", required_argument, NULL, 'l'},
    {"keep", required_argument, NULL, 'k'},
    {"terminal", no_argument, NULL, 'e'},
    {"plan", no_argument, NULL, 'n'},
    {"help", no_argument, NULL, 'h'},
    {NULL, 0, NULL, 0},
};

const char *wait_name(enum wait_kind wait)
{
    return WAITS[wait];
}

bool choice_has(const struct choice *c, const char *name)
{
    if (c->n == 0)
        return !c->none;
    for (int i = 0; i < c->n; i++)
        if (strcmp(c->names[i], name) == 0)
            return true;
    return false;
}

void options_help(FILE *out)
{
    fputs(
        "Times every strategy of gradient synchronisation on the ranks of this launch, beside\n"
        "MPI_Allreduce in the same turns, and checks that what promises a sum gives one. CSV on\n"
        "standard output of rank 0, progress on standard error; exit status 1 when a verdict is "
        "bad.\n"
        "\n"
        "  mpiexec -n 2 comm_sweep\n"
        "\n"
        "Each rank binds itself to a core of its own, unless `pin` or the launcher has bound it "
        "to one.\n"
        "\n"
        "  --sizes A[,B..]      flat tensors, as 4B,64KiB,64MiB; none (4 B to 64 MiB by fours)\n"
        "  --models A[,B..]     networks or model files; none (all of configs/models)\n"
        "  --strategies A[,B..] only these (all of `scalebench list strategies`)\n"
        "  --compress A[,B..]   the compressors of strategies that take one; none (all)\n"
        "  --compare A,B        only these two, with each other: mpi_allreduce or a strategy, with "
        "/ALGORITHM or\n"
        "                       /VARIANT and +COMPRESSOR behind it, as "
        "shm,mpi_allreduce/ring or allreduce+topk,ring\n"
        "  --turns N            timed turns, in each of which every operation runs (11)\n"
        "  --wait KIND          block, poll or yield (block; yield where ranks outnumber cores)\n"
        "  --memory SIZE        of operations that take turns with each other, all ranks of a "
        "node (4GiB)\n"
        "  --link FILE          writes alpha, beta and gamma of this machine there, as CSV\n"
        "  --plan               says how long it would take, by messages and sums measured now, "
        "and "
        "ends\n"
        "  --keep FOLDER        keeps the rows of sizes and networks that are whole there: the "
        "same "
        "words before\n"
        "                       this go on where a sweep was stopped\n"
        "  --terminal           standard error is shown on a terminal: progress on one line of it\n"
        "  --spoil NAME         makes this strategy's sums wrong, to see that verdicts notice\n"
        "  --sync.KEY VALUE     options of strategies, as in a spec\n"
        "  --help               this text\n\n"
        "Columns:\n",
        out);
    rows_print_columns(out);
}

static enum status parse_size(const char *option, const char *text, size_t least, size_t most,
                              size_t *bytes, struct error *e)
{
    static const struct {
        const char *name;
        size_t factor;
    } units[] = {{"B", 1}, {"KiB", 1 << 10}, {"MiB", 1 << 20}, {"GiB", 1 << 30}};
    char *end;
    unsigned long long n = strtoull(text, &end, 10);
    for (size_t i = 0; i < 4; i++) {
        if (end == text || text[0] == '-' || strcmp(end, units[i].name) != 0)
            continue;
        *bytes = (size_t)n * units[i].factor;
        if (n <= most / units[i].factor && *bytes >= least)
            return OK;
    }
    return error_set(e, ERR_ARGUMENT,
                     "--%s: '%s' is no size of %zuB..%zuGiB: a whole number and B, KiB, MiB or "
                     "GiB, as 64KiB",
                     option, text, least, most >> 30);
}

static enum status parse_choice(const char *option, const char *text, struct choice *c,
                                struct error *e)
{
    *c = (struct choice){.none = strcmp(text, "none") == 0};
    if (c->none)
        return OK;
    if (strlen(text) >= sizeof c->text || *text == '\0')
        return error_set(e, ERR_ARGUMENT, "--%s: '%.64s': names separated by commas are expected",
                         option, text);
    strcpy(c->text, text);
    for (char *rest = c->text, *name; (name = strsep(&rest, ",")) != NULL;) {
        if (c->n == NAMES_MAX)
            return error_set(e, ERR_ARGUMENT, "--%s: at most %d names", option, NAMES_MAX);
        c->names[c->n++] = name;
    }
    return OK;
}

static enum status check_strategy(const char *option, const char *name, struct error *e)
{
    int ignored;
    return option_name(option, name, strategy_names(), STRATEGIES, &ignored, e);
}

static enum status parse_strategies(struct sweep_options *o, const char *text, struct error *e)
{
    enum status status = parse_choice("strategies", text, &o->strategies, e);
    for (int i = 0; status == OK && i < o->strategies.n; i++)
        status = check_strategy("strategies", o->strategies.names[i], e);
    return status;
}

static enum status parse_compressors(struct sweep_options *o, const char *text, struct error *e)
{
    int ignored;
    enum status status = parse_choice("compress", text, &o->compressors, e);
    for (int i = 0; status == OK && i < o->compressors.n; i++)
        status = option_name("compress", o->compressors.names[i], compressor_names(), COMPRESSORS,
                             &ignored, e);
    return status;
}

static enum status parse_compared(struct sweep_options *o, const char *text, struct error *e)
{
    struct choice list;
    enum status status = parse_choice("compare", text, &list, e);
    if (status == OK && list.n != 2)
        return error_set(e, ERR_ARGUMENT,
                         "--compare: '%s': two operations are expected, as shm,mpi_allreduce",
                         text);
    for (int i = 0; status == OK && i < 2; i++)
        status = operation_parse("compare", list.names[i], &o->compared[i], e);
    o->compares = true;
    return status;
}

static enum status parse_sizes(struct sweep_options *o, const char *text, struct error *e)
{
    struct choice list;
    enum status status = parse_choice("sizes", text, &list, e);
    o->n_sizes = 0;
    for (int i = 0; status == OK && i < list.n; i++)
        status =
            parse_size("sizes", list.names[i], SIZE_LEAST, SIZE_MOST, &o->sizes[o->n_sizes++], e);
    return status;
}

static enum status parse_wait(struct sweep_options *o, const char *text, struct error *e)
{
    int index;
    enum status status = option_name("wait", text, WAITS, 3, &index, e);
    o->wait = (enum wait_kind)index;
    o->wait_is_set = true;
    return status;
}

static enum status parse_memory(struct sweep_options *o, const char *text, struct error *e)
{
    size_t bytes;
    enum status status = parse_size("memory", text, 1 << 20, (size_t)1 << 50, &bytes, e);
    if (status == OK)
        o->memory_bytes = (double)bytes;
    return status;
}

static enum status take(void *arg, int letter, const char *value, struct error *e)
{
    struct sweep_options *o = arg;
    switch (letter) {
    case 's':
        return parse_sizes(o, value, e);
    case 'm':
        return parse_choice("models", value, &o->models, e);
    case 'g':
        return parse_strategies(o, value, e);
    case 'c':
        return parse_compressors(o, value, e);
    case 'p':
        return parse_compared(o, value, e);
    case 't':
        return option_count("turns", value, 100000, &o->turns, e);
    case 'w':
        return parse_wait(o, value, e);
    case 'y':
        return parse_memory(o, value, e);
    case 'x':
        o->spoil = value;
        return check_strategy("spoil", value, e);
    case 'l':
        o->link = value;
        return OK;
    case 'k':
        o->keep = value;
        return OK;
    case 'e':
        o->terminal = true;
        return OK;
    case 'n':
        o->plans = true;
        return OK;
    default:
        o->help = true;
        return OK;
    }
}

static void set_presets(struct sweep_options *o)
{
    *o = (struct sweep_options){.turns = 11, .memory_bytes = 0x1p32};
    for (size_t bytes = 4; bytes <= (size_t)64 << 20; bytes *= 4)
        o->sizes[o->n_sizes++] = bytes;
}

/* What the sweep goes through by itself is no option of strategies here. */
static enum status check_config(const struct sweep_options *o, struct error *e)
{
    static const struct {
        enum option_id id;
        const char *instead;
    } swept[] = {{OPT_STRATEGY, "--strategies"},
                 {OPT_COMPRESS, "--compress"},
                 {OPT_VARIANT, "--compare"},
                 {OPT_ALGORITHM, "--compare"}};
    struct strategy_config config;
    enum option_id at;
    for (size_t i = 0; i < sizeof swept / sizeof *swept; i++) {
        const struct spec_option *option = option_get(swept[i].id);
        const char *text = config_text(&o->config, swept[i].id);
        if (strcmp(text, option->preset) != 0)
            return error_set(e, ERR_ARGUMENT,
                             "--%s %s: a sweep goes through all of them; %s picks some",
                             option->key, text, swept[i].instead);
    }
    return config_strategy(&o->config, &config, &at, e);
}

static enum status note_command(struct sweep_options *o, char **argv, struct error *e)
{
    size_t n = 0;
    for (argv++; *argv != NULL && strcmp(*argv, "--keep") != 0; argv++) {
        n += (size_t)snprintf(o->command + n, sizeof o->command - n, " %s", *argv);
        if (n >= sizeof o->command)
            return error_set(e, ERR_ARGUMENT, "the command line is longer than %zu characters",
                             sizeof o->command);
    }
    return OK;
}

enum status options_parse(struct sweep_options *o, int argc, char **argv, struct error *e)
{
    set_presets(o);
    enum status status = config_init(&o->config, e);
    if (status == OK)
        status = note_command(o, argv, e);
    if (status == OK)
        status = config_parse_arguments(&o->config, &argc, argv, e);
    if (status == OK)
        status = check_config(o, e);
    return status == OK ? options_walk(argc, argv, KNOWN, take, o, e) : status;
}

void options_free(struct sweep_options *o)
{
    config_free(&o->config);
}
