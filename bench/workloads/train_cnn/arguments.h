/* Command line of the trainer: every workload option of a spec as --key=value, and options that
 * only the trainer has. */
#pragma once

#include <stdbool.h>
#include <stdio.h>

#include "bench/spec/spec.h"
#include "bench/workloads/libraries.h"
#include "bench/workloads/train_cnn/work.h"
#include "comm/wait/wait.h"

enum run_kind {
    RUN_FOR_ACCURACY, /* train for at most train.epochs epochs; evaluate after each */
    RUN_FOR_TIME,     /* run measure.time.warmup_steps untimed and measure.time.steps timed steps */
    RUN_TO_EVALUATE,  /* evaluate the weights of checkpoint.start without training */
};

struct arguments {
    /* names of the workload and of its matrix library (NULL: kernels/gemm.h), set by train_main */
    const char *program, *library;
    struct config config;
    enum run_kind run;
    enum wait_kind wait;
    const char *record_dir; /* folder for the record, borrowed from argv; NULL: no record */
    /* file for the predicted classes of test images, borrowed from argv; NULL: none */
    const char *predictions;
    /* network interface whose bytes are counted, borrowed from argv; NULL: none */
    const char *nic;
    struct work_options work; /* options for calibration and replay, borrowed from argv */
    const char *version;      /* version of the runner, for the record */
    /* hash of the shared libraries that were loaded when the arguments were parsed */
    char libraries[LIBRARIES_HASH_BYTES];
    uint32_t until; /* total epochs at the end of this segment of an elastic run; 0: not elastic */
    bool no_steps;  /* whether the record has no `step` lines */
    bool finalize;  /* whether to end with MPI_Finalize even if the launcher does not need it */
    bool help, describe, describe_plan, identify, probe_recovery;
};

/* Parses the command line. ERR_ARGUMENT with the expected and the found value. Free with
 * config_free(&a->config). */
enum status arguments_parse(struct arguments *a, int argc, char **argv, struct error *e);

/* Prints the help text; `program` is the name of the workload. */
void arguments_help(FILE *out, const char *program);

/* Prints the workload options and the kinds of record lines as JSON, for programs that start the
 * trainer. */
enum status arguments_describe(FILE *out, const char *program, struct error *e);
