#include "bench/workloads/train_cnn/arguments.h"

#include <getopt.h>
#include <jansson.h>
#include <string.h>

#include "bench/record/record.h"
#include "kernels/base/names.h"

static const char *const RUNS[] = {"accuracy", "time", "evaluate"};
static const char *const WAITS[] = {"block", "poll", "yield"};

static const struct option OWN_OPTIONS[] = {
    {"record", required_argument, NULL, 'r'},
    {"no-steps", no_argument, NULL, 'n'},
    {"predictions", required_argument, NULL, 'p'},
    {"run", required_argument, NULL, 'm'},
    {"wait", required_argument, NULL, 'w'},
    {"nic", required_argument, NULL, 'i'},
    {"calibrate", no_argument, NULL, 'c'},
    {"calibration", required_argument, NULL, 't'},
    {"rate", required_argument, NULL, 'g'},
    {"finalize", no_argument, NULL, 'f'},
    {"version-string", required_argument, NULL, 'v'},
    {"describe", no_argument, NULL, 'd'},
    {"describe-plan", no_argument, NULL, 'l'},
    {"identify", no_argument, NULL, 'y'},
    {"help", no_argument, NULL, 'h'},
    {NULL, 0, NULL, 0},
};

/* Bounds and unit are those of the spec's option. */
static enum status take_rate(struct arguments *a, const char *text, struct error *e)
{
    TRY(config_set(&a->config, option_get(OPT_COMPUTE_RATE), text, (struct mark){0}, e));
    a->work.gflops = config_number(&a->config, OPT_COMPUTE_RATE);
    return OK;
}

/* One option that is not in the table of spec options. */
static enum status take_own(struct arguments *a, int letter, struct error *e)
{
    int value = 0;
    enum status status = OK;
    switch (letter) {
    case 'r':
        a->record_dir = optarg;
        break;
    case 'n':
        a->record_steps = false;
        break;
    case 'p':
        a->predictions = optarg;
        break;
    case 'm':
        status = option_name("run", optarg, RUNS, 3, &value, e);
        a->run = (enum run_kind)value;
        break;
    case 'w':
        status = option_name("wait", optarg, WAITS, 3, &value, e);
        a->wait = (enum wait_kind)value;
        break;
    case 'i':
        a->nic = optarg;
        break;
    case 'c':
        a->work.calibrate = true;
        break;
    case 't':
        a->work.calibration = optarg;
        break;
    case 'g':
        status = take_rate(a, optarg, e);
        break;
    case 'f':
        a->finalize = true;
        break;
    case 'v':
        a->version = optarg;
        break;
    case 'd':
        a->describe = true;
        break;
    case 'l':
        a->describe_plan = true;
        break;
    case 'y':
        a->identify = true;
        break;
    case 'h':
        a->help = true;
        break;
    default:
        status = error_set(e, ERR_ARGUMENT, "see --help");
    }
    return status;
}

/* Options that only make sense together. */
static enum status check_together(const struct arguments *a, struct error *e)
{
    if (a->help || a->describe)
        return OK;
    if (!a->config.values[OPT_MODEL].set)
        return error_set(e, ERR_ARGUMENT,
                         "--model is missing: a name from configs/models or a model file");
    if (config_int(&a->config, OPT_GLOBAL_BATCH) > 0 &&
        config_int(&a->config, OPT_BATCH_PER_RANK) > 0)
        return error_set(e, ERR_ARGUMENT,
                         "--train.batch_per_rank and --train.global_batch are both given: leave "
                         "one out");
    if (a->run == RUN_TO_EVALUATE &&
        strcmp(config_text(&a->config, OPT_CHECKPOINT_START), "no") == 0)
        return error_set(
            e, ERR_ARGUMENT,
            "--run evaluate: --checkpoint.start is missing: the file with the weights");
    if (a->run == RUN_FOR_TIME && a->predictions != NULL)
        return error_set(e, ERR_ARGUMENT,
                         "--predictions %s: --run time evaluates nothing; expected accuracy or "
                         "evaluate",
                         a->predictions);
    return OK;
}

/* Times are kept of steps that were computed, and pass in steps that are timed. */
static enum status check_work(const struct arguments *a, struct error *e)
{
    const struct work_options *w = &a->work;
    bool replays = work_is_replayed(w);
    if ((replays || w->calibrate) && a->run != RUN_FOR_TIME)
        return error_set(e, ERR_ARGUMENT, "--%s wants --run time: what is trained is computed",
                         w->calibrate             ? "calibrate"
                         : w->calibration != NULL ? "calibration"
                                                  : "rate");
    if (w->calibrate + (w->calibration != NULL) + (w->gflops > 0) > 1)
        return error_set(e, ERR_ARGUMENT,
                         "--calibrate computes, --calibration and --rate do not: one of the three");
    if (w->calibrate && a->record_dir == NULL)
        return error_set(e, ERR_ARGUMENT,
                         "--calibrate: --record is missing: the folder for the times");
    if (replays && config_int(&a->config, OPT_BATCH_NORM) == BATCH_NORM_sync)
        return error_set(e, ERR_ARGUMENT,
                         "--train.batch_norm sync sums inside of layers, which are not computed "
                         "here: expected local or frozen");
    if (replays && config_overlap(&a->config) == OVERLAP_thread)
        return error_set(e, ERR_ARGUMENT,
                         "--sync.overlap thread keeps a core busy, which a rank that does not "
                         "compute leaves free: expected none, poll_layers or poll_tiles");
    return OK;
}

/* Takes the options that config_parse_arguments has left. */
static enum status parse_own(struct arguments *a, int argc, char **argv, struct error *e)
{
    opterr = 0;
    optind = 1;
    for (;;) {
        int before = optind, letter = getopt_long(argc, argv, "h", OWN_OPTIONS, NULL);
        if (letter == -1)
            break;
        if (letter == '?')
            return error_set(e, ERR_ARGUMENT,
                             "%s: unknown option, or its value is missing; see --help",
                             argv[before]);
        TRY(take_own(a, letter, e));
    }
    return optind < argc
               ? error_set(e, ERR_ARGUMENT, "'%s' is not an option; see --help", argv[optind])
               : OK;
}

enum status arguments_parse(struct arguments *a, int argc, char **argv, struct error *e)
{
    struct strategy_config strategy;
    enum option_id at;
    *a = (struct arguments){.version = "", .record_steps = true};
    libraries_hash(a->libraries);
    TRY(config_init(&a->config, e));
    TRY(config_parse_arguments(&a->config, &argc, argv, e));
    TRY(parse_own(a, argc, argv, e));
    TRY(config_strategy(&a->config, &strategy, &at, e));
    TRY(check_together(a, e));
    return check_work(a, e);
}

static bool is_workload_option(enum option_id id)
{
    return option_get(id)->scope == SCOPE_WORKLOAD;
}

void arguments_help(FILE *out, const char *program)
{
    fprintf(out,
            "Trains a convolutional network on MPI processes.\n\n"
            "  mpiexec -n 2 %s --model lenet_21k --train.lr 0.05 --train.momentum 0.5\n\n",
            program);
    fputs(
        "  --run accuracy|time|evaluate  train and evaluate (default), time a few dozen steps, or\n"
        "                        only evaluate the weights of --checkpoint.start\n"
        "  --predictions FILE    write the class of each test image, a line an image\n"
        "  --record DIR          write DIR/rank.N.jsonl\n"
        "  --no-steps            without a line a step in it\n"
        "  --wait block|poll|yield  how ranks wait for each other; yield when they outnumber "
        "cores\n"
        "  --nic NAME            count what this network interface carries in the timed steps\n"
        "  --calibrate           write what each op took beside the record, with --run time\n"
        "  --calibration DIR     do not compute: let the times pass that --calibrate has written "
        "to DIR\n"
        "  --rate GFLOPS         the same at so many GFLOP/s of each thread\n"
        "  --finalize            leave through MPI_Finalize, for tools that write their results in "
        "it; over\n"
        "                        TCP MPICH before 4.2 may hang there\n"
        "  --describe            options and records as JSON\n"
        "  --describe-plan       the ops that --model, --kernels.plan and --kernels.tune make, "
        "with "
        "their FLOPs\n"
        "  --identify            number type, instruction set, libraries and data of a run, as "
        "JSON\n"
        "  --help                this text\n\n"
        "Options of a spec, as --key value or --key=value:\n",
        out);
    for (int id = 0; id < OPTION_COUNT; id++) {
        const struct spec_option *option = option_get((enum option_id)id);
        if (is_workload_option((enum option_id)id)) {
            fprintf(out, "  --%-28s %s%s%s%s\n", option->key, option->help,
                    option->preset != NULL ? " (default " : "",
                    option->preset != NULL ? option->preset : "",
                    option->preset != NULL ? ")" : "");
        }
    }
}

static json_t *describe_options(void)
{
    json_t *options = json_array();
    for (int id = 0; id < OPTION_COUNT; id++) {
        const struct spec_option *option = option_get((enum option_id)id);
        if (is_workload_option((enum option_id)id)) {
            json_array_append_new(options, json_pack("{s:s, s:s, s:s?, s:s}", "key", option->key,
                                                     "unit", option->unit, "default",
                                                     option->preset, "help", option->help));
        }
    }
    return options;
}

enum status arguments_describe(FILE *out, const char *program, struct error *e)
{
    json_t *all = json_pack("{s:s, s:i, s:[s,s,s,s,s], s:o}", "workload", program, "record_schema",
                            RECORD_SCHEMA, "records", "hello", "step", "epoch", "eval", "end",
                            "options", describe_options());
    int failed =
        all == NULL || json_dumpf(all, out, JSON_INDENT(2)) != 0 || fputc('\n', out) == EOF;
    json_decref(all);
    return failed ? error_set(e, ERR_SYSTEM, "cannot print the description") : OK;
}
