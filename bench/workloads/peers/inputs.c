/* peer_inputs: gives a training program in another language (a peer) the inputs of train_cnn.
 * Options, networks, data, batches and initial weights are thus implemented only once.
 *
 *   peer_inputs PEER RANK RANKS [--describe | --help | --check | options of a workload]
 *
 * Writes the network to standard output as a line of JSON, then a line of JSON about the run.
 * Unless --check is given, the arrays named in the second line follow, without gaps:
 *
 *   images [n,C,H,W] u8, labels [n] u8, test_images, test_labels, params [n_params] f32;
 *   per step of the run: epoch, step, count (images of this rank), global_of (images of all ranks)
 *   u32, lr f64; samples [sum of count] u32; with padding, weights [sum of count] f32; with
 *   augmentation, crops [sum of count, 3] i8: row and column of the crop, whether it is mirrored */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/base/descriptors.h"
#include "bench/base/json.h"
#include "bench/record/record.h"
#include "bench/workloads/data/data_set.h"
#include "bench/workloads/peers/batches.h"
#include "bench/workloads/peers/check.h"
#include "bench/workloads/train_cnn/arguments.h"
#include "bench/workloads/train_cnn/trainer.h"
#include "kernels/base/clock.h"
#include "kernels/base/launcher.h"
#include "kernels/base/mem.h"
#include "kernels/gemm.h"

struct inputs {
    struct arguments arguments;
    struct config presets;
    struct net_desc desc;
    struct data_set data;
    struct trainer trainer; /* trainer of which only the sampler is opened, to list the batches */
    struct batch_list batches;
    real *params;
    double read_s;
    bool check; /* --check was given: write only the lines of JSON, no arrays */
};

/* Array to write to standard output. */
struct array {
    const char *name, *type;
    const void *bytes;
    size_t n, item; /* number of items, and bytes per item */
};

static enum status open_data(struct inputs *in, struct error *e)
{
    const struct config *c = &in->arguments.config;
    int64_t begin_ns = clock_ns();
    TRY(data_open_as(&in->data, config_text(c, OPT_DATA_SET), config_text(c, OPT_DATA_PATH),
                     config_text(c, OPT_DATA_NAME), e));
    in->read_s = clock_seconds_since(begin_ns);
    return OK;
}

static enum status open_inputs(struct inputs *in, struct error *e)
{
    const struct config *c = &in->arguments.config;
    TRY(config_init(&in->presets, e));
    TRY(model_load(&in->desc, config_text(c, OPT_MODEL), e));
    if (in->check)
        return OK;
    TRY(open_data(in, e));
    in->trainer.config = c;
    in->trainer.model.desc = &in->desc;
    in->trainer.data = &in->data;
    TRY(trainer_open_batches(&in->trainer, e));
    TRY(batch_list_make(&in->batches, &in->trainer, in->arguments.run, e));
    TRY(MEM_NEW(in->params, in->desc.n_params, "parameters", e));
    net_init_params(&in->desc, in->params, (uint64_t)config_number(c, OPT_SEED));
    return OK;
}

static void close_inputs(struct inputs *in)
{
    batch_list_free(&in->batches);
    sampler_close(&in->trainer.batches.sampler);
    data_close(&in->data);
    net_desc_free(&in->desc);
    config_free(&in->arguments.config);
    config_free(&in->presets);
    free(in->params);
}

/* ---- Writing ---- */

enum { ARRAYS = 13 };

static void list_arrays(const struct inputs *in, struct array arrays[ARRAYS])
{
    const struct data_part *train = &in->data.train, *test = &in->data.test;
    const struct batch_list *b = &in->batches;
    const size_t image = shape_count(in->data.shape);
    const struct array list[ARRAYS] = {
        {"images", "u1", train->images, train->n * image, 1},
        {"labels", "u1", train->labels, train->n, 1},
        {"test_images", "u1", test->images, test->n * image, 1},
        {"test_labels", "u1", test->labels, test->n, 1},
        {"params", "f4", in->params, in->desc.n_params, sizeof(real)},
        {"epoch", "u4", b->epoch, b->steps, sizeof *b->epoch},
        {"step", "u4", b->step, b->steps, sizeof *b->step},
        {"count", "u4", b->count, b->steps, sizeof *b->count},
        {"global_of", "u4", b->global, b->steps, sizeof *b->global},
        {"lr", "f8", b->lr, b->steps, sizeof *b->lr},
        {"samples", "u4", b->samples, b->n, sizeof *b->samples},
        {"weights", "f4", b->weights, b->padded ? b->n : 0, sizeof *b->weights},
        {"crops", "i1", b->crops, b->crops != NULL ? b->n * sizeof *b->crops : 0, 1},
    };
    memcpy(arrays, list, sizeof list);
}

static json_t *options_json(const struct config *config)
{
    json_t *options = json_object();
    for (int id = 0; id < OPTION_COUNT; id++) {
        const struct spec_option *option = option_get((enum option_id)id);
        if (scope_is_workload(option->scope))
            json_object_set_new(options, option->key, json_string(config->values[id].text));
    }
    return options;
}

static json_t *run_json(const struct inputs *in)
{
    const struct arguments *a = &in->arguments;
    return json_pack("{s:s, s:s?, s:s?, s:f, s:b, s:s, s:o, s:o, s:i, s:o, s:s, s:s?}", "run",
                     a->run == RUN_FOR_TIME ? "time" : "accuracy", "record", a->record_dir, "nic",
                     a->nic, "deadline_s", config_number(&a->config, OPT_DEADLINE), "record_steps",
                     !a->no_steps, "version", a->version, "options", options_json(&a->config),
                     "presets", options_json(&in->presets), "schema", RECORD_SCHEMA, "fields",
                     record_fields_json(), "blas", gemm_library(), "blis_arch_type",
                     getenv(GEMM_ARCH_TYPE));
}

static json_t *data_json(const struct inputs *in)
{
    const struct trainer *t = &in->trainer;
    return json_pack("{s:s, s:s, s:s, s:i, s:i, s:i, s:f, s:i, s:i, s:i}", "dataset", in->data.name,
                     "data_source", in->data.source, "data_path", in->data.path, "data_classes",
                     in->data.classes, "train_images", (int)t->batches.sampler.epoch_images,
                     "test_images", (int)in->data.test.n, "read_s", in->read_s, "batch",
                     (int)t->batches.sampler.n_max, "global_batch",
                     (int)t->batches.sampler.full_images, "epoch_steps",
                     (int)t->batches.sampler.steps);
}

static json_t *arrays_json(const struct array arrays[ARRAYS])
{
    json_t *json = json_array();
    for (int i = 0; i < ARRAYS; i++)
        json_array_append_new(json, json_pack("{s:s, s:s, s:I}", "name", arrays[i].name, "type",
                                              arrays[i].type, "n", (json_int_t)arrays[i].n));
    return json;
}

static enum status write_failed(struct error *e)
{
    return error_set(e, ERR_SYSTEM, "standard output cannot be written: %s", strerror(errno));
}

static enum status write_arrays(const struct array arrays[ARRAYS], struct error *e)
{
    for (int i = 0; i < ARRAYS; i++)
        if (arrays[i].n > 0 &&
            fwrite(arrays[i].bytes, arrays[i].item, arrays[i].n, stdout) != arrays[i].n)
            return write_failed(e);
    return OK;
}

static enum status write_inputs(const struct inputs *in, struct error *e)
{
    struct array arrays[ARRAYS];
    list_arrays(in, arrays);
    TRY(model_write_json(stdout, &in->desc, e));
    json_t *about = run_json(in);
    if (!in->check) {
        json_object_update_new(about, data_json(in));
        json_object_set_new(about, "arrays", arrays_json(arrays));
    }
    fputc('\n', stdout);
    bool written = json_put(stdout, about, JSON_LINE);
    json_decref(about);
    if (!written)
        return write_failed(e);
    if (!in->check)
        TRY(write_arrays(arrays, e));
    return fflush(stdout) != 0 ? write_failed(e) : OK;
}

/* ---- The command line ---- */

static enum status check_run(const struct arguments *a, const char *peer, struct error *e)
{
    const struct workload_row *row = workload_find(peer);
    if (row == NULL)
        return error_set(e, ERR_ARGUMENT, "workload '%s' is unknown in bench/spec/workloads.def",
                         peer);
    TRY(workload_check_strategy(row, strategy_names()[config_strategy_kind(&a->config)], e));
    bool known = a->run == RUN_FOR_TIME || a->run == RUN_FOR_ACCURACY;
    if (known && a->predictions == NULL && !a->describe_plan)
        return OK;
    return error_set(
        e, ERR_ARGUMENT,
        "%s supports only --run accuracy and --run time, not --predictions or --describe-plan",
        peer);
}

static enum status act(const char *peer, struct inputs *in, struct error *e)
{
    if (in->arguments.help) {
        arguments_help(stdout, peer);
        return OK;
    }
    if (in->arguments.describe)
        return arguments_describe(stdout, peer, e);
    TRY(check_run(&in->arguments, peer, e));
    if (!in->check)
        TRY(launcher_check(in->trainer.job.ranks, peer, e));
    gemm_init();
    TRY(open_inputs(in, e));
    return write_inputs(in, e);
}

int main(int argc, char **argv)
{
    struct inputs in = {.check = false};
    struct error e = {0};
    descriptors_open_standard();
    if (argc < 4) {
        fputs("usage: peer_inputs PEER RANK RANKS [options of a workload]\n", stderr);
        return 2;
    }
    const char *peer = argv[1];
    in.trainer.job.rank = atoi(argv[2]);
    in.trainer.job.ranks = atoi(argv[3]);
    argc -= 3;
    argv += 3;
    in.check = peer_take_check(&argc, argv);
    enum status status = arguments_parse(&in.arguments, argc, argv, &e);
    THEN(status, act(peer, &in, &e));
    close_inputs(&in);
    if (status == OK)
        return descriptors_end_output(peer, 0);
    if (e.text[0] != '\0') {
        fprintf(stderr, "%s: ", peer);
        error_print(stderr, &e);
    }
    return error_exit_status(&e);
}
