/* `scalebench new`: writes a short spec for the user to start from, and prints its plan. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "bench/base/file.h"
#include "bench/runner/commands/commands.h"
#include "bench/spec/spec.h"
#include "kernels/base/text.h"

struct new_spec {
    const char *name, *model, *ranks, *strategies;
    const char *data, *folder; /* data set; folder of the user's own images, NULL: none */
};

/* Returns whether the spec should exclude strategies other than `none` at one rank, which has no
 * gradients to synchronise. */
static bool leaves_out_sums(const struct new_spec *s)
{
    return strncmp(s->ranks, "1,", 2) == 0 && strncmp(s->strategies, "none,", 5) == 0;
}

static int first_length(const char *list)
{
    return (int)strcspn(list, ",");
}

static void print_data(FILE *out, const struct new_spec *s)
{
    if (s->folder != NULL)
        fprintf(out, "data: {set: %s, path: \"%s\"}   # your own images\n", s->data, s->folder);
    else
        fprintf(out, "data: {set: %s}   # real images if found, else generated\n", s->data);
}

static void print_spec(FILE *out, const struct new_spec *s)
{
    fprintf(
        out,
        "# `scalebench plan %s.yaml` lists the points, `scalebench run %s.yaml` measures them.\n"
        "name: %s\n"
        "scaling: strong                # the same global batch for every number of ranks\n"
        "model: %s   # `scalebench list models`, or a model file\n",
        s->name, s->name, s->name, s->model);
    print_data(out, s);
    fprintf(out,
            "train: {optimizer: sgd, lr: 0.01, momentum: 0.9, global_batch: 128}\n"
            "matrix:\n"
            "  ranks: [%s]\n"
            "  sync.strategy: [%s]   # none: no communication; `scalebench list strategies`\n",
            s->ranks, s->strategies);
    if (leaves_out_sums(s))
        fputs("exclude: [\"ranks = 1 and not sync.strategy = none\"]\n", out);
    if (strstr(s->strategies, "zero3") != NULL)
        fputs("sync: {zero_persist: 0}   # zero3 shares tensors of any size\n", out);
    fprintf(out,
            "baseline: {ranks: %.*s, sync.strategy: %.*s}   # speed-ups refer to it\n"
            "measure:\n"
            "  time: {warmup_steps: 5, steps: 40, launches: 6..12, precision: 5%%}\n",
            first_length(s->ranks), s->ranks, first_length(s->strategies), s->strategies);
}

/* If --data is a folder of images, chooses data set npy or idx by the folder's file names.
 * Otherwise, a slash in --data is an error. Other names are checked when the new spec is
 * planned. */
static enum status choose_own_data(struct new_spec *s, struct error *e)
{
    glob_t found;
    if (!path_is_folder(s->data))
        return strchr(s->data, '/') == NULL
                   ? OK
                   : error_set(e, ERR_ARGUMENT, "new: --data: folder '%s' not found", s->data);
    s->folder = s->data;
    s->data = file_glob(s->folder, "*.npy*", 0, &found) == 0 ? "npy" : "idx";
    globfree(&found);
    return OK;
}

static enum status choose_data(struct new_spec *s, struct error *e)
{
    struct net_desc net;
    if (s->data != NULL)
        return data_set_find(s->data) == NULL ? choose_own_data(s, e) : OK;
    TRY(model_load(&net, s->model, e));
    s->data = net.layers[0].in.c == 3 ? "cifar10" : "mnist";
    net_desc_free(&net);
    return OK;
}

static enum status write_spec(const char *path, const struct new_spec *s, struct error *e)
{
    FILE *out = fopen(path, "wx");
    if (out == NULL)
        return error_set(e, ERR_ARGUMENT, "new: %s cannot be written: %s. Give another NAME", path,
                         strerror(errno));
    print_spec(out, s);
    return fclose(out) == 0 ? OK : error_set(e, ERR_SYSTEM, "%s: %s", path, strerror(errno));
}

/* Checks that --ranks is `auto` or consists of digits, commas and blanks. */
static enum status check_ranks(const char *ranks, struct error *e)
{
    size_t digits = strspn(ranks, "0123456789, ");
    if (strcmp(ranks, "auto") == 0 || (digits > 0 && ranks[digits] == '\0'))
        return OK;
    return error_set(
        e, ERR_ARGUMENT,
        "new: --ranks: expected auto or numbers separated by commas, such as 1,2,4; found '%s'",
        ranks);
}

enum status command_new(const struct arguments *a, FILE *out, int *exit_status, struct error *e)
{
    char path[PATH_BYTES], stem[PATH_BYTES];
    static const char ending[] = ".yaml";
    int cut = text_ends(a->operand, ending) ? 5 : text_ends(a->operand, ".yml") ? 4 : 0;
    TRY(path_format(stem, e, "%.*s", (int)strlen(a->operand) - cut, a->operand));
    struct new_spec s = {.name = file_name(stem),
                         .model = a->model != NULL ? a->model : "lenet_21k",
                         .data = a->data,
                         .ranks = a->ranks != NULL ? a->ranks : "1,2",
                         .strategies = a->strategies != NULL ? a->strategies : "none,allreduce"};
    struct arguments plan = {.tools = a->tools, .command = a->command, .out = a->out};
    TRY(check_ranks(s.ranks, e));
    TRY(choose_data(&s, e));
    TRY(path_format(path, e, "%s%s", stem, ending));
    TRY(write_spec(path, &s, e));
    plan.operand = path;
    enum status status = command_plan(&plan, out, exit_status, e);
    if (status != OK) {
        unlink(path);
        status = error_set(e, status, "new: %s", e->text); /* drops the error's position, since the
                                                              file was removed */
    } else
        fprintf(out, "\n%s is written. Run it: %s run %s\n", path, a->command[0], path);
    return status;
}
