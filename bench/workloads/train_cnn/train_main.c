#include "bench/workloads/train_cnn/train_main.h"

#include <limits.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "bench/base/crash_reporter.h"
#include "bench/base/descriptors.h"
#include "bench/base/json.h"
#include "bench/workloads/failure.h"
#include "bench/workloads/train_cnn/parts/recovery.h"
#include "bench/workloads/train_cnn/plan_print.h"
#include "bench/workloads/train_cnn/run.h"
#include "comm/wait/progress.h"
#include "comm/wait/startup_watchdog.h"
#include "kernels/base/launcher.h"
#include "kernels/base/mem.h"

/* Crash reporter of this process (see crash_reporter_start); -1: none is running. */
static int crash_reporter = -1;

static void stop_crash_reporter(void)
{
    if (crash_reporter >= 0)
        crash_reporter_stop(crash_reporter);
    crash_reporter = -1;
}

/* Starts a process that reports the death of this rank, since the launcher may blame another rank.
 * Does nothing if no launcher started this rank. Stop the reporter before an exit that skips atexit
 * handlers. */
static enum status start_crash_reporter(const char *program, struct error *e)
{
    char message[512], host[HOST_NAME_MAX + 1] = "";
    int rank = launcher_rank();
    if (rank < 0)
        return OK; /* no reporter needed: without a launcher, the parent sees the exit status */
    gethostname(host, sizeof host - 1);
    snprintf(message, sizeof message, "%s: rank %d (process %d on %s) was killed or has crashed",
             program, rank, (int)getpid(), host);
    enum status status = crash_reporter_start(&crash_reporter, message, e);
    if (status == OK &&
        (atexit(stop_crash_reporter) != 0 || at_quick_exit(stop_crash_reporter) != 0))
        status = error_set(e, ERR_SYSTEM, "cannot register an exit handler");
    return status;
}

/* Trains on this rank and returns the exit status. If only some ranks fail, a failed rank aborts
 * all others. */
static int train(const struct arguments *arguments, const struct load_mark *begin)
{
    struct error e = {0};
    struct run r = {.arguments = arguments, .begin = begin};
    record_clear(RECORD_end, &r.end);
    /* memory of the loaded libraries, measured before anything else is allocated */
    r.end.libraries_mib = mem_now_mib();
    enum status status = run_open(&r, &e);
    THEN(status, run_execute(&r, &e));
    int exit_status = status == OK ? 0 : failure_report(arguments->program, &e, true);
    if (status != OK)
        recorder_withdraw(arguments->record_dir, r.rank);
    if (status != OK && !r.all_failed) {
        stop_crash_reporter();
        failure_abort_all(exit_status, &e);
    }
    run_close(&r);
    return exit_status;
}

static enum status print_identity(FILE *out, const struct arguments *a, struct error *e)
{
    const struct config *c = &a->config;
    struct data_set data;
    enum isa isa;
    enum status status = trainer_isa(c, &isa, e);
    TRY(status);
    TRY(data_open_as(&data, config_text(c, OPT_DATA_SET), config_text(c, OPT_DATA_PATH),
                     config_text(c, OPT_DATA_NAME), e));
    gemm_init();
    json_t *line = report_identity(&data, isa, a, e);
    /* Adds numbers and arrays only, because the runner treats each string member as a property on
     * which results depend (a fact, bench/runner/facts.h). */
    json_object_update_new(line, json_pack("{s:[i,i,i], s:[i,s], s:i}", "data_shape", data.shape.c,
                                           data.shape.h, data.shape.w, "data_labels", data.classes,
                                           data.largest, "data_images", (int)data.train.n));
    if (line == NULL)
        status = e->status;
    else if (!json_put(out, line, JSON_COMPACT))
        status = error_set(e, ERR_SYSTEM, "cannot print the output of --identify");
    json_decref(line);
    data_close(&data);
    return status;
}

/* Prints the properties that must be equal for launches to be comparable. Errors are also printed
 * to standard output, which the runner reads. */
static enum status identify(FILE *out, const struct arguments *a, struct error *e)
{
    enum status status = print_identity(out, a, e);
    if (status != OK)
        fprintf(out, "%s%s%s\n", e->file, e->file[0] ? ": " : "", e->text);
    return status;
}

/* Prints the answer to a query option, such as --identify, that needs no training. */
static enum status answer_query(FILE *out, const struct arguments *a, struct error *e)
{
    if (a->probe_recovery)
        return recovery_probe(out, e);
    if (a->describe)
        return arguments_describe(out, a->program, e);
    return a->describe_plan ? plan_print(out, &a->config, e) : identify(out, a, e);
}

static int wanted_level(const struct config *c)
{
    return config_overlap(c) == OVERLAP_thread ? MPI_THREAD_SERIALIZED : MPI_THREAD_FUNNELED;
}

/* Starts MPI, trains, and ends MPI. Returns the exit status. If the launcher needs no MPI_Finalize,
 * exits directly instead, unless --finalize is given. */
static int train_in_mpi(int argc, char **argv, const struct arguments *a, struct error *e)
{
    int level;
    double deadline_s = config_number(&a->config, OPT_DEADLINE);
    struct startup_watchdog startup;
    struct load_mark begin;
    load_mark_take(&begin);
    recorder_announce(a->record_dir, launcher_rank());
    if (start_crash_reporter(a->program, e) != OK ||
        startup_watchdog_begin(&startup, "start of MPI", deadline_s, e) != OK)
        return failure_report(a->program, e, true);
    failure_warn_of_shared_memory();
    if (a->wait == WAIT_YIELD)
        progress_yield();
    MPI_Init_thread(&argc, &argv, wanted_level(&a->config), &level);
    startup_watchdog_end(&startup);
    int exit_status = train(a, &begin);
    if (!a->finalize && launcher_hears_leaving()) {
        stop_crash_reporter();
        launcher_leave(descriptors_end_output(a->program, exit_status));
    }
    startup_watchdog_begin(&startup, "end of MPI", deadline_s, e);
    MPI_Finalize();
    startup_watchdog_end(&startup);
    return exit_status;
}

static bool is_query(const struct arguments *a)
{
    return a->describe || a->describe_plan || a->identify || a->probe_recovery;
}

int train_main(int argc, char **argv, const struct train_program *program)
{
    struct arguments arguments;
    struct error e = {0};
    int exit_status = 0;
    descriptors_open_standard();
    enum status status = arguments_parse(&arguments, argc, argv, &e);
    arguments.program = program->name;
    arguments.library = program->library;
    if (status == OK && program->prepare != NULL && !arguments.help && !arguments.describe)
        status = program->prepare(&arguments.config, &e);
    if (status != OK)
        exit_status = failure_report(program->name, &e, failure_is_first_process());
    else if (arguments.help)
        arguments_help(stdout, program->name);
    else if (!is_query(&arguments))
        exit_status = train_in_mpi(argc, argv, &arguments, &e);
    else if (answer_query(stdout, &arguments, &e) != OK)
        exit_status = failure_report(program->name, &e, true);
    config_free(&arguments.config);
    return descriptors_end_output(program->name, exit_status);
}
