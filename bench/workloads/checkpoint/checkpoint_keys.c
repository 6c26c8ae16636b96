#include "bench/workloads/checkpoint/checkpoint_keys.h"

#include <sha2.h>
#include <stdlib.h>
#include <string.h>

#define KEY_BYTES 128 /* bytes of a key's value */

static void model_name(const struct checkpoint_state *s, char text[KEY_BYTES])
{
    snprintf(text, KEY_BYTES, "%s", s->desc->name);
}

/* Writes data.shard. If shards are contiguous, also writes the number of ranks, since the shards
 * depend on it. */
static void data_shard(const struct checkpoint_state *s, char text[KEY_BYTES])
{
    const char *shard = config_text(s->config, OPT_DATA_SHARD);
    if (config_int(s->config, OPT_DATA_SHARD) == SHARD_global)
        snprintf(text, KEY_BYTES, "%s", shard);
    else
        snprintf(text, KEY_BYTES, "%s over %d ranks", shard, s->sync->ranks);
}

static void describe_layer(FILE *out, const struct layer_desc *layer)
{
    fprintf(out, "%s %s", layer_names()[layer->kind], layer->name);
    for (const struct layer_option *o = layer_rule_get(layer->kind)->options; o->key != NULL; o++) {
        const void *field = (const char *)layer + o->offset;
        const int *numbers = field;
        if (o->type == LAYER_PART)
            fprintf(out, layer_lacks(layer, o) ? " no %s" : "", o->key);
        else if (o->type == LAYER_REAL)
            fprintf(out, " %s=%.17g", o->key, *(const double *)field);
        else if (o->type == LAYER_PAIR)
            fprintf(out, " %s=%d,%d", o->key, numbers[0], numbers[1]);
        else
            fprintf(out, " %s=%d", o->key, numbers[0]);
    }
    fputc('\n', out);
}

/* Writes a hash of the whole network description, since two networks may differ only in a dropout
 * rate. */
static void model_digest(const struct checkpoint_state *s, char text[KEY_BYTES])
{
    char *description = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&description, &size);
    snprintf(text, KEY_BYTES, "unknown");
    if (out == NULL)
        return;
    char input[40];
    fprintf(out, "input %s classes %d\n", shape_text(input, s->desc->input), s->desc->classes);
    for (int c = 0; c < s->desc->input.c && c < 4; c++)
        fprintf(out, "normalize %.17g %.17g\n", s->desc->mean[c], s->desc->std[c]);
    for (int i = 0; i < s->desc->n_layers; i++)
        describe_layer(out, &s->desc->layers[i]);
    if (fclose(out) == 0)
        SHA256Data((const uint8_t *)description, size, text);
    free(description);
}

static void rule_ranks(const struct checkpoint_state *s, char text[KEY_BYTES])
{
    snprintf(text, KEY_BYTES, "%d", s->sync->ranks);
}

static void epochs(const struct checkpoint_state *s, char text[KEY_BYTES])
{
    snprintf(text, KEY_BYTES, "%s", config_text(s->config, OPT_EPOCHS));
}

/* Returns whether checkpoint and run must have the same number of ranks: true if train.lr_rule
 * makes the learning rate depend on this number and the run is not elastic. */
static bool with_rule_of_ranks(const struct checkpoint_state *s)
{
    return !s->rescales && config_int(s->config, OPT_LR_RULE) != LR_RULE_constant;
}

/* Returns whether checkpoint and run must have the same number of epochs: true if the learning rate
 * has a cosine schedule, which depends on this number. */
static bool with_schedule_of_epochs(const struct checkpoint_state *s)
{
    return config_int(s->config, OPT_LR_SCHEDULE) == LR_SCHEDULE_cosine;
}

static bool in_any_run(const struct checkpoint_state *s)
{
    return true;
}

static bool with_loss_scale(const struct checkpoint_state *s)
{
    return s->sync->config.precision == PRECISION_fp16;
}

/* Returns whether checkpoint and run must have the same train.accumulate: true if the network has
 * batch norm that is not frozen. Batch-norm statistics depend on the micro-batches. */
static bool with_statistics(const struct checkpoint_state *s)
{
    return s->desc->n_buffers > 0 && config_int(s->config, OPT_BATCH_NORM) != BATCH_NORM_frozen;
}

/* Fact of checkpoint_keys.def. This run's value comes from an option, a function, or a member of
 * the state. */
static const struct key {
    const char *name; /* name in the file; NULL: the key of `option` */
    enum option_id option;
    void (*text)(const struct checkpoint_state *s, char text[KEY_BYTES]);
    /* Returns whether this run stores the fact in checkpoints and compares it. NULL: every run
     * does, and every checkpoint has the fact. */
    bool (*counts)(const struct checkpoint_state *s);
    bool scales; /* whether the fact may change between epochs of an elastic run, together with the
                    number of ranks */
    /* offset in struct checkpoint_state of a string (text_at) or a uint32_t (number_at); 0: none */
    size_t text_at, number_at;
} keys[] = {
#define AT(member)                  offsetof(struct checkpoint_state, member)
#define RUN_KEY(name, text)         {name, OPTION_COUNT, text, NULL, false, 0, 0},
#define TEXT_KEY(name, member)      {name, OPTION_COUNT, NULL, NULL, false, AT(member), 0},
#define NUMBER_KEY(name, member, s) {name, OPTION_COUNT, NULL, NULL, s, 0, AT(member)},
#define SCALE_KEY(name, text)       {name, OPTION_COUNT, text, NULL, true, 0, 0},
#define OPTION_KEY(id)              {NULL, OPT_##id, NULL, NULL, false, 0, 0},
#define LATER_KEY(id, counts)       {NULL, OPT_##id, NULL, counts, false, 0, 0},
#define NEW_KEY(name, text, counts) {name, OPTION_COUNT, text, counts, false, 0, 0},
#include "bench/workloads/checkpoint/checkpoint_keys.def"
};

#define KEYS (sizeof keys / sizeof *keys)

static const char *key_name(const struct key *key)
{
    return key->name != NULL ? key->name : option_get(key->option)->key;
}

static void key_text(const struct key *key, const struct checkpoint_state *s, char text[KEY_BYTES])
{
    const char *state = (const char *)s;
    if (key->text != NULL)
        key->text(s, text);
    else if (key->text_at > 0)
        snprintf(text, KEY_BYTES, "%s", *(const char *const *)(state + key->text_at));
    else if (key->number_at > 0)
        snprintf(text, KEY_BYTES, "%u", *(const uint32_t *)(state + key->number_at));
    else
        snprintf(text, KEY_BYTES, "%s", config_text(s->config, key->option));
}

static bool key_counts(const struct key *key, const struct checkpoint_state *s)
{
    return key->counts == NULL || key->counts(s);
}

/* Returns the value of a fact in the file. If the file lacks the fact: NULL for a required fact,
 * the default for an option, else `own`, this run's value. */
static const char *key_there(const struct key *key, const struct safetensors *file, const char *own)
{
    const char *there = safetensors_text(file, key_name(key));
    if (there != NULL || key->counts == NULL)
        return there;
    return key->text != NULL ? own : option_get(key->option)->preset;
}

enum status checkpoint_keys_add(json_t *metadata, const struct checkpoint_state *s, struct error *e)
{
    for (size_t i = 0; i < KEYS; i++) {
        char text[KEY_BYTES];
        if (!key_counts(&keys[i], s))
            continue;
        key_text(&keys[i], s, text);
        if (json_object_set_new(metadata, key_name(&keys[i]), json_string(text)) != 0)
            return error_set(e, ERR_ARGUMENT, "%s = '%s' is not UTF-8, or memory is exhausted",
                             key_name(&keys[i]), text);
    }
    return OK;
}

static bool may_differ(const struct key *key, const struct safetensors *file,
                       const struct checkpoint_state *s)
{
    const char *step = safetensors_text(file, "progress.step");
    return key->scales && s->rescales && step != NULL && strcmp(step, "0") == 0;
}

enum status checkpoint_keys_compare(const struct safetensors *file,
                                    const struct checkpoint_state *s, struct error *e)
{
    for (size_t i = 0; i < KEYS; i++) {
        char text[KEY_BYTES];
        const char *name = key_name(&keys[i]);
        if (!key_counts(&keys[i], s) || may_differ(&keys[i], file, s))
            continue;
        key_text(&keys[i], s, text);
        const char *there = key_there(&keys[i], file, text);
        if (there == NULL)
            return error_at(e, ERR_DATA, file->path, 0, 0,
                            "__metadata__: '%s' is missing; expected '%s', the value of this run",
                            name, text);
        if (strcmp(there, text) != 0)
            return error_at(e, ERR_DATA, file->path, 0, 0,
                            "%s: the checkpoint has '%s', this run '%s'. Resume with the same "
                            "options, or read only the weights with checkpoint.start",
                            name, there, text);
    }
    return OK;
}
