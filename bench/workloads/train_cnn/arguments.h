/* The trainer's command line: every option of the spec that concerns a workload, as --key=value,
 * and a few that say how to run. */
#pragma once

#include <stdbool.h>
#include <stdio.h>

#include "bench/spec/spec.h"
#include "bench/workloads/libraries.h"
#include "bench/workloads/train_cnn/work.h"
#include "comm/wait/wait.h"

enum run_kind {
    RUN_FOR_ACCURACY, /* train.epochs passes, an evaluation after each */
    RUN_FOR_TIME,     /* measure.time.warmup_steps, then measure.time.steps timed ones */
    RUN_TO_EVALUATE,  /* the weights of checkpoint.start, untrained */
};

struct arguments {
    struct config config;
    enum run_kind run;
    enum wait_kind wait;
    const char *record_dir;  /* NULL: no record. Borrowed from argv. */
    const char *predictions; /* file of the test images' classes, NULL: none. Borrowed from argv. */
    const char *nic;         /* interface whose bytes are counted, NULL: none. From argv. */
    struct work_options work;             /* borrowed from argv */
    const char *version;                  /* given by the runner, for the record */
    char libraries[LIBRARIES_HASH_BYTES]; /* loaded when the arguments were parsed */
    uint32_t until; /* epochs after which this segment of an elastic run ends; 0: it is none */
    bool no_steps;  /* the record has no `step` lines */
    bool finalize;  /* ranks leave through MPI_Finalize */
    bool help, describe, describe_plan, identify, probe_recovery;
};

/* ERR_ARGUMENT with what is wrong and what is accepted. Freed with config_free(&a->config). */
enum status arguments_parse(struct arguments *a, int argc, char **argv, struct error *e);

/* `program` is the name of the workload whose options these are. */
void arguments_help(FILE *out, const char *program);

/* Options and records as JSON, for harnesses that drive this program. */
enum status arguments_describe(FILE *out, const char *program, struct error *e);
