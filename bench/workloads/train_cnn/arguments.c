#include "bench/workloads/train_cnn/arguments.h"

#include <errno.h>
#include <getopt.h>
#include <math.h>
#include <string.h>
#include <unistd.h>

#include "bench/base/json.h"
#include "bench/base/log.h"
#include "bench/record/record.h"
#include "bench/spec/value.h"
#include "comm/wait/progress.h"
#include "kernels/base/launcher.h"
#include "kernels/base/names.h"
#include "kernels/base/terminal.h"

static const char *const RUNS[] = {"accuracy", "time", "evaluate"};
static const char *const WAITS[] = {"block", "poll", "yield"};

/* ---- Options of the trainer alone ---- */

static enum status take_text(struct arguments *a, void *at, const char *text, struct error *e)
{
    *(const char **)at = text;
    return OK;
}

static enum status take_yes(struct arguments *a, void *at, const char *text, struct error *e)
{
    *(bool *)at = true;
    return OK;
}

static enum status take_run(struct arguments *a, void *at, const char *text, struct error *e)
{
    int run;
    TRY(option_name("run", text, RUNS, 3, &run, e));
    a->run = (enum run_kind)run;
    return OK;
}

static enum status take_wait(struct arguments *a, void *at, const char *text, struct error *e)
{
    int wait;
    TRY(option_name("wait", text, WAITS, 3, &wait, e));
    a->wait = (enum wait_kind)wait;
    return OK;
}

/* Parses --rate with the bounds and the unit of option compute.rate. Rejects 0, which in a spec
 * means: use calibrated times. */
static enum status take_rate(struct arguments *a, void *at, const char *text, struct error *e)
{
    struct spec_option rate = *option_get(OPT_COMPUTE_RATE);
    rate.key = "--rate";
    TRY(config_set(&a->config, &rate, text, (struct mark){0}, e));
    a->work.gflops = config_number(&a->config, OPT_COMPUTE_RATE);
    if (a->work.gflops > 0)
        return OK;
    return error_set(e, ERR_ARGUMENT, "--rate %s: expected %.15g..%.15g %s", text, rate.min,
                     rate.max, rate.unit);
}

/* Parses --until (epochs) with the bounds of train.epochs. */
static enum status take_until(struct arguments *a, void *at, const char *text, struct error *e)
{
    const struct spec_option *epochs = option_get(OPT_EPOCHS);
    double until;
    if (!number_parse(text, &until) || until < epochs->min || until > epochs->max ||
        until != floor(until))
        return error_set(e, ERR_ARGUMENT, "--until %s: expected a whole number from %.0f to %.0f",
                         text, epochs->min, epochs->max);
    a->until = (uint32_t)until;
    return OK;
}

#define AT(member) offsetof(struct arguments, member)

/* Options of the trainer that specs do not have. `take` parses the text (NULL for a flag) into
 * struct arguments. `at`: offset of the member, if `take` needs it. */
static const struct own_option {
    const char *name;
    enum status (*take)(struct arguments *a, void *at, const char *text, struct error *e);
    size_t at;
    const char *value, *help;
} own_options[] = {
    {"run", take_run, AT(run), "accuracy|time|evaluate",
     "train and evaluate (default), time a few dozen steps, or only evaluate the weights of "
     "--checkpoint.start"},
    {"predictions", take_text, AT(predictions), "FILE",
     "write the predicted class of each test image, one per line"},
    {"record", take_text, AT(record_dir), "DIR", "write DIR/rank.N.jsonl"},
    {"no-steps", take_yes, AT(no_steps), "", "leave the steps out of the record"},
    {"wait", take_wait, AT(wait), "block|poll|yield",
     "how ranks wait for each other (default yield if mpiexec reports more ranks than processors "
     "on a node, else block)"},
    {"nic", take_text, AT(nic), "NAME",
     "count bytes and packets of this network interface in the timed steps"},
    {"calibrate", take_yes, AT(work.calibrate), "",
     "write the time of each op beside the record, with --run time"},
    {"calibration", take_text, AT(work.calibration), "DIR",
     "sleep for the times that --calibrate has written to DIR instead of computing"},
    {"rate", take_rate, AT(work.gflops), "GFLOPS",
     "sleep as long as computing would take at this rate per thread"},
    {"until", take_until, 0, "EPOCHS",
     "run a segment of an elastic run: resume from a checkpoint of any number of ranks, end after "
     "this many epochs with a checkpoint, and report progress in DIR/progress"},
    {"finalize", take_yes, AT(finalize), "",
     "end with MPI_Finalize, for tools that write their results in it; MPICH before 4.2 may hang "
     "there over TCP. Launchers other than hydra and srun --mpi=pmi2 imply this option"},
    /* The runner passes its version, which is written to the record. */
    {"version-string", take_text, AT(version), "TEXT", NULL},
    {"describe", take_yes, AT(describe), "", "print options and records as JSON"},
    {"describe-plan", take_yes, AT(describe_plan), "",
     "print the ops of --model, --kernels.plan and --kernels.tune with their FLOPs"},
    {"identify", take_yes, AT(identify), "",
     "print number type, instruction set, libraries and data of a run as JSON"},
    {"probe-recovery", take_yes, AT(probe_recovery), "",
     "print whether this MPI library lets ranks continue when one dies"},
    {"help", take_yes, AT(help), "", "print this text"},
};
enum { OWN_OPTIONS = sizeof own_options / sizeof *own_options };

static void list_own(struct option list[OWN_OPTIONS + 1])
{
    memset(list, 0, (OWN_OPTIONS + 1) * sizeof *list);
    for (int i = 0; i < OWN_OPTIONS; i++) {
        const struct own_option *own = &own_options[i];
        list[i].name = own->name;
        list[i].has_arg = own->value[0] ? required_argument : no_argument;
    }
}

static bool is_workload_option(enum option_id id)
{
    return scope_is_workload(option_get(id)->scope);
}

static bool is_known(const char *argument, const char *const *names, size_t n)
{
    char name[64];
    snprintf(name, sizeof name, "%.*s", (int)strcspn(argument, "="), argument);
    return name_index(name, names, n) >= 0;
}

static enum status unknown_option(const char *argument, struct error *e)
{
    const char *names[OWN_OPTIONS + OPTION_COUNT];
    char near[NAME_NEAR_BYTES];
    size_t n = 0;
    for (; n < OWN_OPTIONS; n++)
        names[n] = own_options[n].name;
    for (int id = 0; id < OPTION_COUNT; id++)
        if (is_workload_option((enum option_id)id))
            names[n++] = option_get((enum option_id)id)->key;
    size_t length = strspn(argument, "-");
    if (length == 1 && is_known(argument + 1, names, n))
        return error_set(e, ERR_ARGUMENT, "%s: unknown option; write -%s", argument, argument);
    if (option_find(argument + length) != NULL)
        return error_set(e, ERR_ARGUMENT,
                         "%s: unknown option. Option %s belongs in a spec for `scalebench run`. To "
                         "set the number of ranks, use mpiexec -n",
                         argument, argument + length);
    return error_set(e, ERR_ARGUMENT, "%s: unknown option, or its value is missing%s; see --help",
                     argument, option_near(near, argument, names, n));
}

/* Parses the trainer's own options, which config_parse_arguments has left in argv. */
static enum status parse_own(struct arguments *a, int argc, char **argv, struct error *e)
{
    struct option list[OWN_OPTIONS + 1];
    list_own(list);
    opterr = 0;
    optind = 1;
    for (;;) {
        int before = optind, i = 0, letter = getopt_long(argc, argv, "h", list, &i);
        if (letter == -1)
            break;
        if (letter == '?')
            return unknown_option(argv[before], e);
        if (letter == 'h')
            a->help = true;
        else
            TRY(own_options[i].take(a, (char *)a + own_options[i].at, optarg, e));
    }
    return optind < argc
               ? error_set(e, ERR_ARGUMENT, "'%s' is not an option%s%s; see --help", argv[optind],
                           strchr(argv[optind], '=') != NULL ? "; write --" : "",
                           strchr(argv[optind], '=') != NULL ? argv[optind] : "")
               : OK;
}

/* ---- Checks ---- */

/* Without --record, rejects options that affect only the record. Accepts them with
 * --version-string, which only the runner passes. */
static enum status check_recorded(const struct arguments *a, struct error *e)
{
    const struct config *c = &a->config;
    const char *option = a->no_steps                     ? "no-steps"
                         : config_int(c, OPT_TIMELINE)   ? option_get(OPT_TIMELINE)->key
                         : config_int(c, OPT_REPLAY) > 0 ? option_get(OPT_REPLAY)->key
                                                         : NULL;
    if (option == NULL || a->record_dir != NULL || a->version[0])
        return OK;
    return error_set(e, ERR_ARGUMENT,
                     "--%s has no effect without --record; give --record DIR, or leave --%s out",
                     option, option);
}

/* Checks that the file named by an option exists, unless the option is no or auto. Each rank
 * checks, since other nodes may lack the file. */
static enum status check_file(const struct config *c, enum option_id id, const char *words,
                              struct error *e)
{
    const char *path = config_text(c, id);
    if (strcmp(path, "no") == 0 || strcmp(path, "auto") == 0 || access(path, F_OK) == 0)
        return OK;
    return error_set(e, ERR_ARGUMENT,
                     "--%s %s: cannot be opened: %s; expected a safetensors file, %s",
                     option_get(id)->key, path, strerror(errno), words);
}

/* Checks options that depend on each other. */
static enum status check_together(const struct arguments *a, struct error *e)
{
    if (a->describe + a->describe_plan + a->identify + a->probe_recovery > 1)
        return error_set(
            e, ERR_ARGUMENT,
            "expected only one of --describe, --describe-plan, --identify and --probe-recovery");
    TRY(check_recorded(a, e));
    if (a->help || a->describe || a->probe_recovery)
        return OK;
    if (!a->config.values[OPT_MODEL].set)
        return error_set(e, ERR_ARGUMENT,
                         "--model is missing: expected a name from configs/models or a model file");
    TRY(check_file(&a->config, OPT_CHECKPOINT_RESUME, "'auto' or 'no'", e));
    TRY(check_file(&a->config, OPT_CHECKPOINT_START, "or 'no'", e));
    if (a->run == RUN_TO_EVALUATE &&
        strcmp(config_text(&a->config, OPT_CHECKPOINT_START), "no") == 0)
        return error_set(
            e, ERR_ARGUMENT,
            "--run evaluate: --checkpoint.start is missing: expected a file with weights");
    if (a->run != RUN_FOR_ACCURACY && a->until > 0)
        return error_set(e, ERR_ARGUMENT,
                         "--until %u: expected --run accuracy, the only run with epochs", a->until);
    if (a->until > config_number(&a->config, OPT_EPOCHS))
        return error_set(e, ERR_ARGUMENT,
                         "--until %u is beyond train.epochs = %s: expected at most %s", a->until,
                         config_text(&a->config, OPT_EPOCHS), config_text(&a->config, OPT_EPOCHS));
    if (a->run == RUN_FOR_TIME && a->predictions != NULL)
        return error_set(
            e, ERR_ARGUMENT,
            "--predictions %s: --run time does not evaluate. Use --run accuracy or --run evaluate",
            a->predictions);
    return OK;
}

/* Checks the options for calibration and replay. They need --run time. */
static enum status check_work(const struct arguments *a, struct error *e)
{
    const struct work_options *w = &a->work;
    bool replays = work_is_replayed(w);
    if ((replays || w->calibrate) && a->run != RUN_FOR_TIME)
        return error_set(e, ERR_ARGUMENT,
                         "--%s: expected --run time, the only run that calibrates or replays",
                         w->calibrate             ? "calibrate"
                         : w->calibration != NULL ? "calibration"
                                                  : "rate");
    if (w->calibrate + (w->calibration != NULL) + (w->gflops > 0) > 1)
        return error_set(e, ERR_ARGUMENT,
                         "expected only one of --calibrate, --calibration and --rate");
    if (w->calibrate && a->record_dir == NULL)
        return error_set(e, ERR_ARGUMENT,
                         "--calibrate: --record is missing: expected a folder for the times");
    if ((replays || w->calibrate) && config_int(&a->config, OPT_PRECISION) != PRECISION_fp32)
        return error_set(e, ERR_ARGUMENT,
                         "--train.precision %s: calibration and replay support fp32 only",
                         config_text(&a->config, OPT_PRECISION));
    if (replays && config_int(&a->config, OPT_BATCH_NORM) == BATCH_NORM_sync)
        return error_set(e, ERR_ARGUMENT,
                         "--train.batch_norm sync is not supported by --calibration and --rate, "
                         "which do not compute layers: expected local or frozen");
    if (replays && config_overlap(&a->config) == OVERLAP_thread)
        return error_set(
            e, ERR_ARGUMENT,
            "--sync.overlap thread is not supported by --calibration and --rate, whose ranks leave "
            "their cores free: expected none, poll_layers or poll_tiles");
    return OK;
}

/* Returns whether the option affects only the other kind of run (--run time or accuracy). False for
 * defaults and `seed`, since `scalebench plan` prints them in every command line. */
static bool is_of_another_run(const struct config *config, enum option_id id)
{
    const struct value *value = &config->values[id];
    bool given = value->set && id != OPT_SEED && !value_is_preset(option_get(id), value);
    const struct spec_option *owner = given ? config_unread_by(config, id) : NULL;
    return owner != NULL && scope_is_campaign(owner->scope);
}

static enum status refuse_run(const struct config *config, bool timed, struct error *e)
{
    for (enum option_id id = 0; id < OPT_OWN; id++)
        if (is_of_another_run(config, id))
            return error_set(e, ERR_ARGUMENT,
                             "--%s has no effect with --run %s, only with --run %s. Leave it out",
                             option_get(id)->key, RUNS[timed], RUNS[!timed]);
    return OK;
}

/* Rejects an option that other options of this command line leave without effect. Accepts an option
 * if the launcher (ranks, nodes) or the runner decides whether it has an effect. */
static enum status refuse_unread(const struct config *config, enum option_id id, struct error *e)
{
    const struct spec_option *owner = config_unread_by(config, id);
    bool decided = owner != NULL && scope_is_workload(owner->scope);
    return decided ? config_refuse_unread(config, id, e) : OK;
}

/* Returns whether a workload option has a non-default value. False for options without a default,
 * and for checkpoint.path, which may be set even if no checkpoints are written. */
static bool is_given(const struct config *config, enum option_id id)
{
    const struct spec_option *option = option_get(id);
    return id != OPT_CHECKPOINT_PATH && is_workload_option(id) && option->preset != NULL &&
           !value_is_preset(option, &config->values[id]);
}

/* On rank 0, prints a note for each value that has no effect, or not its full effect, because there
 * are too few steps, epochs, ranks or nodes. Also prints one if checkpoint.path is given, but no
 * checkpoint is written or resumed. Does not reject such values, since other launches may use
 * them. */
static void note_unused(const struct config *config)
{
    char why[512];
    if (launcher_rank() > 0)
        return;
    for (enum option_id id = 0; id < OPT_OWN; id++)
        if (is_given(config, id) && config_is_late(why, sizeof why, config, id))
            log_print(LOG_NOTE, "%s", why);
    if (config->values[OPT_CHECKPOINT_PATH].set && !config_writes_checkpoints(config) &&
        value_is_preset(option_get(OPT_CHECKPOINT_RESUME), &config->values[OPT_CHECKPOINT_RESUME]))
        log_print(LOG_NOTE, "checkpoint.path has no effect: no checkpoint is written or resumed. "
                            "Give checkpoint.every_epochs or checkpoint.every_steps");
}

static enum status check_readers(const struct config *config, struct error *e)
{
    for (enum option_id id = 0; id < OPT_OWN; id++)
        if (is_given(config, id))
            TRY(refuse_unread(config, id, e));
    return OK;
}

/* Returns the name of an option from own_options that is set but that --describe-plan ignores; NULL
 * if there is none. */
static const char *find_own_unplanned(const struct arguments *a)
{
    return a->run != RUN_FOR_ACCURACY    ? "run"
           : a->record_dir != NULL       ? "record"
           : a->predictions != NULL      ? "predictions"
           : a->nic != NULL              ? "nic"
           : a->work.calibrate           ? "calibrate"
           : a->work.calibration != NULL ? "calibration"
           : a->work.gflops > 0          ? "rate"
           : a->until > 0                ? "until"
           : a->finalize                 ? "finalize"
                                         : NULL;
}

/* Rejects options that --describe-plan ignores. Batch and threads are accepted, because tuning
 * depends on them. */
static enum status check_planned(const struct arguments *a, struct error *e)
{
    static const enum option_id read[] = {OPT_MODEL,        OPT_KERNELS,        OPT_TUNE,
                                          OPT_ISA,          OPT_PRECISION,      OPT_THREADS,
                                          OPT_GLOBAL_BATCH, OPT_BATCH_PER_RANK, OPT_ACCUMULATE};
    const char *unread = find_own_unplanned(a);
    for (enum option_id id = 0; id < OPT_OWN && unread == NULL; id++) {
        bool used = !a->config.values[id].set;
        for (size_t i = 0; i < sizeof read / sizeof *read && !used; i++)
            used = read[i] == id;
        unread = used ? NULL : option_get(id)->key;
    }
    if (unread == NULL)
        return OK;
    return error_set(e, ERR_ARGUMENT, "--%s has no effect with --describe-plan; leave it out",
                     unread);
}

/* Rejects options without effect. Checks nothing with --help, --identify or --run evaluate. Checks
 * nothing with --version-string either: only the runner passes it, and the runner has checked the
 * options. */
static enum status check_run(const struct arguments *a, struct error *e)
{
    struct config config;
    bool timed = a->run == RUN_FOR_TIME;
    const struct mark none = {0};
    if (a->describe_plan && !a->help)
        return check_planned(a, e);
    if (a->help || a->identify || a->version[0] || a->run == RUN_TO_EVALUATE)
        return OK;
    config_borrow(&config, &a->config);
    enum status status =
        config_set(&config, option_get(OPT_TIME_LAUNCHES), timed ? "1" : "0", none, e);
    THEN(status,
         config_set(&config, option_get(OPT_ACCURACY_SEEDS), timed ? "[]" : "[1]", none, e));
    if (a->until > 0) /* a segment of an elastic run always ends with a checkpoint, so the checks
                         below must count it as a run that writes checkpoints */
        THEN(status, config_set(&config, option_get(OPT_CHECKPOINT_EPOCHS), "1", none, e));
    THEN(status, refuse_run(&config, timed, e));
    THEN(status, check_readers(&config, e));
    if (status == OK)
        note_unused(&config);
    config_free(&config);
    return status;
}

enum status arguments_parse(struct arguments *a, int argc, char **argv, struct error *e)
{
    struct strategy_config strategy;
    enum option_id at;
    *a = (struct arguments){.version = ""};
    /* Default if --wait is not given. The runner always passes --wait, since it knows the cores of
     * each rank. */
    a->wait = progress_is_crowded() ? WAIT_YIELD : WAIT_BLOCK;
    libraries_hash(a->libraries);
    TRY(config_init(&a->config, e));
    TRY(config_parse_arguments(&a->config, &argc, argv, e));
    TRY(parse_own(a, argc, argv, e));
    TRY(config_strategy(&a->config, &strategy, &at, e));
    TRY(check_together(a, e));
    TRY(check_work(a, e));
    return check_run(a, e);
}

static void print_option(FILE *out, const char *name, const char *value, int indent,
                         const char *help)
{
    char head[64];
    int width = terminal_width(out);
    snprintf(head, sizeof head, "  --%s %s", name, value);
    terminal_print_entry(out, head, indent, help, width > 0 ? width : 100);
}

void arguments_help(FILE *out, const char *program)
{
    fprintf(out,
            "Trains a convolutional network on MPI processes.\n\n"
            "  mpiexec -n 2 %s --model lenet_21k --train.lr 0.05 --train.momentum 0.5\n\n"
            "If an option is given twice, the last value counts.\n\n",
            program);
    for (int i = 0; i < OWN_OPTIONS; i++)
        if (own_options[i].help != NULL)
            print_option(out, own_options[i].name, own_options[i].value, 24, own_options[i].help);
    fputs("\nOptions of a spec, as --key value or --key=value:\n", out);
    for (int id = 0; id < OPTION_COUNT; id++) {
        const struct spec_option *option = option_get((enum option_id)id);
        char help[1024];
        snprintf(help, sizeof help, option->preset != NULL ? "%s (default %s)" : "%s", option->help,
                 option->preset);
        if (is_workload_option((enum option_id)id))
            print_option(out, option->key, "", 33, help);
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

static json_t *describe_records(void)
{
    json_t *records = json_array();
    for (int line = 0; line < RECORD_LINES; line++)
        json_array_append_new(records, json_string(record_line_names[line]));
    return records;
}

enum status arguments_describe(FILE *out, const char *program, struct error *e)
{
    json_t *all =
        json_pack("{s:s, s:i, s:o, s:o}", "workload", program, "record_schema", RECORD_SCHEMA,
                  "records", describe_records(), "options", describe_options());
    bool written = json_put(out, all, JSON_INDENT(2));
    json_decref(all);
    return written ? OK : error_set(e, ERR_SYSTEM, "cannot print the output of --describe");
}
