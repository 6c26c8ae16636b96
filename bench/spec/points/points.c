#include "bench/spec/points/points.h"

#include <sha256.h>
#include <stdlib.h>
#include <string.h>

/* Returns whether an option is about writing checkpoints or resuming from them. Such options are
 * not part of the problem, but the initial weights (checkpoint.start) are. */
static bool is_checkpointing(const struct spec_option *option)
{
    return strncmp(option->key, "checkpoint.", 11) == 0 && option->id != OPT_CHECKPOINT_START;
}

/* Returns whether an option decides if and how compute is replayed. Such options do not change the
 * problem of a point. */
static bool is_of_compute(const struct spec_option *option)
{
    return option->id == OPT_COMPUTE || option->id == OPT_COMPUTE_RATE ||
           option->id == OPT_COMPUTE_CORES;
}

/* Returns whether an option decides if and how a run is resized or restarted. Such options do not
 * change the problem that a point solves. */
static bool is_elastic(const struct spec_option *option)
{
    return option->id == OPT_ELASTIC || strncmp(option->key, "restart.", 8) == 0;
}

bool option_is_problem(const struct spec_option *option)
{
    return !scope_is_campaign(option->scope) && !option->flaw && !is_checkpointing(option) &&
           option->id != OPT_RANKS && option->id != OPT_NODES && !option_is_derived(option->id) &&
           strncmp(option->key, "place.", 6) != 0 && strncmp(option->key, "sync.", 5) != 0 &&
           strncmp(option->key, "inject.", 7) != 0 && strncmp(option->key, "parallel.", 9) != 0 &&
           !is_of_compute(option) && !is_elastic(option);
}

/* ---- Identity ---- */

static void add_option(SHA256_CTX *context, const char *key, const char *text)
{
    SHA256_Update(context, (const uint8_t *)key, strlen(key));
    SHA256_Update(context, (const uint8_t *)"=", 1);
    SHA256_Update(context, (const uint8_t *)text, strlen(text));
    SHA256_Update(context, (const uint8_t *)"\n", 1);
}

/* Sets the identity: the first 12 hexadecimal digits of the SHA-256 over "key=value\n" of all point
 * options that are neither default nor derived. The value of option model is the digest of the
 * network. Since defaults are left out, a later version with more options computes the same
 * identity. */
void point_identify(struct point *point, const struct spec *spec)
{
    SHA256_CTX context;
    point->net = spec_input_find(spec, OPT_MODEL, config_text(&point->config, OPT_MODEL));
    SHA256_Init(&context);
    for (size_t i = 0; i < OPTION_COUNT; i++) {
        const struct spec_option *option = config_option(&spec->config, (enum option_id)i);
        const char *text = point->config.values[i].text;
        if (i == OPT_MODEL && point->net != NULL)
            text = point->net->digest;
        if (!scope_is_campaign(option->scope) && !option_is_derived(option->id) &&
            strcmp(text, spec->presets.values[i].text) != 0)
            add_option(&context, option->key, text);
    }
    char digest[SHA256_DIGEST_STRING_LENGTH];
    SHA256_End(&context, digest);
    snprintf(point->id, sizeof point->id, "%.12s", digest);
}

/* ---- Memory of points ---- */

enum status points_grow(struct spec *spec, size_t n, struct error *e)
{
    struct point *points = reallocarray(spec->points, spec->n_points + n, sizeof *points);
    if (points == NULL)
        return error_no_memory(e, "points");
    spec->points = points;
    return OK;
}

void point_share(struct point *added, const struct point *with)
{
    if (!added->requested && strcmp(added->case_name, with->case_name) != 0)
        added->case_name = "";
}
