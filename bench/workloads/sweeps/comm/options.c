#include <math.h>
#include <string.h>

#include "bench/spec/value.h"
#include "bench/workloads/sweeps/comm/sweep.h"
#include "kernels/base/names.h"

#define SIZE_LEAST 4
/* Largest gradient size (bytes): at most 2^30 numbers, so that the number of elements fits into the
 * int that MPI takes. */
#define SIZE_MOST 0x1p32

static const char *const wait_texts[] = {"auto", [WAIT_BLOCK + 1] = "block",
                                         [WAIT_POLL + 1] = "poll", [WAIT_YIELD + 1] = "yield"};
static const struct enumeration waits = {"waits", 4, wait_texts, NULL};

const char *wait_name(enum wait_kind kind)
{
    return wait_texts[kind + 1];
}

static const struct spec_option ROWS[] = {
#define OPTION SWEEP_OPTION_ROW
#include "bench/workloads/sweeps/comm/options.def"
};
enum { ROWS_N = sizeof ROWS / sizeof *ROWS };

/* Reads --gradients. A value that begins with a digit is a size; any other value is a network, a
 * model file or "link". */
static enum status fill_gradients(struct sweep_options *o, struct error *e)
{
    enum option_type type = TYPE_TEXT;
    double bytes;
    const char *text = o->gradients = sweep_text_but(&o->config, SWEEP_GRADIENTS, "");
    if (text == NULL)
        return o->help ? OK
                       : error_set(e, ERR_ARGUMENT,
                                   "--gradients is missing: expected a size such as 64KiB, a "
                                   "network, a model file, or the word link");
    if (text[0] < '0' || text[0] > '9')
        return OK;
    if (!number_parse_unit(text, &type, &bytes) || type != TYPE_SIZE || bytes < SIZE_LEAST ||
        bytes > SIZE_MOST || bytes != floor(bytes))
        return error_set(e, ERR_ARGUMENT,
                         "--gradients: expected a size of 4B..4GiB such as 64KiB (a whole number "
                         "with B, KiB, MiB or GiB), found '%s'",
                         text);
    o->bytes = (size_t)bytes;
    return OK;
}

static enum status fill_compared(struct sweep_options *o, struct error *e)
{
    const struct value *list = &o->config.values[SWEEP_COMPARED];
    o->compares = list->n > 0;
    if (o->compares && list->n != 2)
        return error_set(e, ERR_ARGUMENT,
                         "--compare: expected two operations, such as shm,mpi_allreduce, found %u",
                         list->n);
    for (unsigned i = 0; i < list->n; i++)
        TRY(contender_parse(o, "compare", list->texts[i], &o->compared[i], e));
    return OK;
}

void options_help(FILE *out)
{
    fputs("Times every strategy of gradient synchronisation on the ranks of this launch, with\n"
          "MPI_Allreduce in the same rounds, and checks their sums. Rank 0 prints CSV. The exit "
          "status\n"
          "is 1 if a verdict is bad. configs/comm.yaml runs it for several sizes and networks.\n\n"
          "  mpiexec -n 2 comm_sweep --gradients 64KiB\n\n",
          out);
    sweep_options_print(out, ROWS, ROWS_N);
    fputs("  --sync.KEY     set an option of strategies, as in a spec\n", out);
}

/* Rejects options sync.* that the sweep itself varies, and invalid values of other options
 * sync.*. */
static enum status check_config(const struct sweep_options *o, struct error *e)
{
    static const struct {
        enum option_id id;
        const char *instead;
    } swept[] = {{OPT_STRATEGY, "--strategies"},
                 {OPT_sync_zero, "--strategies"},
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
                             "--%s %s: a sweep runs all values of this option. Select values with "
                             "%s",
                             option->key, text, swept[i].instead);
    }
    return config_strategy(&o->config, &config, &at, e);
}

/* Rejects spec options outside sync.*. Such options have no effect, since a sweep does not
 * train. */
static enum status check_group(const struct sweep_options *o, struct error *e)
{
    for (enum option_id id = 0; id < OPT_OWN; id++)
        if (o->config.values[id].set && strncmp(option_get(id)->key, "sync.", 5) != 0)
            return error_set(e, ERR_ARGUMENT,
                             "options of a spec other than --sync.KEY have no effect on a sweep. "
                             "Leave --%s out",
                             option_get(id)->key);
    return OK;
}

static enum status check_choice(const struct sweep_options *o, int id, struct error *e)
{
    const struct spec_option *row = &ROWS[id - OPT_OWN];
    if (!o->compares || o->config.values[id].n == row->names->n)
        return OK;
    return error_set(
        e, ERR_ARGUMENT,
        "%s has no effect with --compare, which names both operations. Leave one of the two "
        "options out",
        row->key);
}

static enum status check_spoil(const struct sweep_options *o, struct error *e)
{
    int ignored;
    if (o->spoil == NULL)
        return OK;
    TRY(option_name("spoil", o->spoil, strategy_names(), STRATEGIES, &ignored, e));
    return o->compares || sweep_list_has(&o->config.values[SWEEP_STRATEGIES], o->spoil)
               ? OK
               : error_set(e, ERR_ARGUMENT,
                           "--spoil: strategy '%s' is missing in --strategies. Add the strategy to "
                           "--strategies",
                           o->spoil);
}

enum status options_parse(struct sweep_options *o, int argc, char **argv, struct error *e)
{
    *o = (struct sweep_options){.help = false};
    TRY(config_init(&o->config, e));
    TRY(config_parse_arguments(&o->config, &argc, argv, e));
    TRY(check_group(o, e));
    TRY(check_config(o, e));
    TRY(sweep_options_take(&o->config, ROWS, ROWS_N, argc, argv, &o->help, e));
    o->spoil = sweep_text_but(&o->config, SWEEP_SPOIL, "none");
    o->record = sweep_text_but(&o->config, SWEEP_RECORD, "");
    o->name = sweep_text_but(&o->config, SWEEP_NAME, "");
    o->rounds = (int)sweep_number(&o->config, SWEEP_TURNS);
    o->memory_bytes = sweep_number(&o->config, SWEEP_MEMORY);
    TRY(fill_compared(o, e));
    TRY(check_choice(o, SWEEP_STRATEGIES, e));
    TRY(check_choice(o, SWEEP_COMPRESSORS, e));
    TRY(check_spoil(o, e));
    return fill_gradients(o, e);
}
