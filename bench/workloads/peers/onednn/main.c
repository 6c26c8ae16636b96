/* peer_onednn: trains the networks of configs/models with oneDNN's kernels, as a baseline for
 * train_cnn. Forward and backward passes are oneDNN's (net.c); all else comes from train_cnn. For
 * each pass of each convolution, the fastest of oneDNN's algorithms is chosen before the first
 * step. With train.precision = bf16, values are bf16 and master weights are fp32. */
#include <stdio.h>
#include <string.h>

#include "bench/base/descriptors.h"
#include "bench/workloads/peers/check.h"
#include "bench/workloads/peers/onednn/version.h"
#include "bench/workloads/train_cnn/arguments.h"
#include "bench/workloads/train_cnn/train_main.h"

#define NAME "peer_onednn"

static char library[64]; /* version and instruction set of oneDNN, set by prepare */

/* Options that is_supported accepts with any value, because they do not affect a peer or because
 * the trainer of train_cnn, which this peer links, implements them. `prepare` also checks the value
 * of sync.strategy. An entry that ends in "." or "_" is a prefix of options. */
static const char *const any_value[] = {"model",
                                        "seed",
                                        "data.",
                                        "train.optimizer",
                                        "train.lr",
                                        "train.lr_rule",
                                        "train.lr_",
                                        "train.momentum",
                                        "train.weight_decay",
                                        "train.beta1",
                                        "train.beta2",
                                        "train.epsilon",
                                        "train.nesterov",
                                        "train.global_batch",
                                        "train.batch_per_rank",
                                        "train.epochs",
                                        "train.target_acc_pct",
                                        "train.shuffle",
                                        "sync.strategy",
                                        "sync.deadline",
                                        "checkpoint.path",
                                        "kernels.",
                                        "place.",
                                        "peer.",
                                        "measure.",
                                        "train.decoupled_decay"};

static bool is_any(const char *key)
{
    for (size_t i = 0; i < sizeof any_value / sizeof *any_value; i++) {
        size_t length = strlen(any_value[i]);
        bool group = strchr("._", any_value[i][length - 1]) != NULL;
        if (group ? strncmp(key, any_value[i], length) == 0 : strcmp(key, any_value[i]) == 0)
            return true;
    }
    return false;
}

static bool is_supported(const struct config *c, const struct spec_option *option)
{
    const char *value = config_text(c, option->id);
    return !scope_is_workload(option->scope) || is_any(option->key) ||
           strcmp(value, option->preset) == 0 ||
           (option->id == OPT_PRECISION && strcmp(value, "bf16") == 0) ||
           (option->id == OPT_REMAINDER && strcmp(value, "drop") == 0);
}

/* Sets `library`, rejects options that this peer does not support, and sets kernels.tune = start,
 * so that all ranks use rank 0's choice of algorithms. */
static enum status prepare(struct config *c, struct error *e)
{
    TRY(onednn_name(library, sizeof library, e));
    for (enum option_id id = 0; id < OPT_OWN; id++) {
        const struct spec_option *option = option_get(id);
        if (!is_supported(c, option))
            return error_set(e, ERR_UNAVAILABLE, "%s '%s' is not supported; use %s", option->key,
                             config_text(c, id), option->preset);
    }
    if (config_int(c, OPT_PRECISION) == PRECISION_bf16 && !onednn_has_bf16())
        return error_set(e, ERR_UNAVAILABLE, "train.precision 'bf16' needs AVX-512; found %s",
                         library);
    TRY(config_set(c, option_get(OPT_TUNE), "start", (struct mark){0}, e));
    return workload_check_strategy(workload_find(NAME), strategy_names()[config_strategy_kind(c)],
                                   e);
}

/* Prints the answer to --check in one line on standard output: oneDNN's version, or the reason why
 * the peer cannot run. */
static int answer_check(int argc, char **argv)
{
    struct arguments a;
    struct error e = {0};
    enum status status = arguments_parse(&a, argc, argv, &e);
    THEN(status, prepare(&a.config, &e));
    config_free(&a.config);
    if (status == OK)
        puts(library);
    else
        printf("%s: %s\n", NAME, e.text);
    return descriptors_end_output(NAME, status == OK ? 0 : error_exit_status(&e));
}

int main(int argc, char **argv)
{
    descriptors_open_standard();
    if (peer_take_check(&argc, argv))
        return answer_check(argc, argv);
    return train_main(
        argc, argv, &(struct train_program){.name = NAME, .library = library, .prepare = prepare});
}
