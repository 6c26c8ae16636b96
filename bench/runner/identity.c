#include "bench/runner/identity.h"

#include <errno.h>
#include <sha2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static enum status describe_model(FILE *out, const char *name, struct error *e)
{
    struct net_desc net;
    enum status status = model_load(&net, name, e);
    if (status != OK)
        return status;
    fprintf(out, "model %s %dx%dx%d %d %d", net.name, net.input.c, net.input.h, net.input.w,
            net.classes, (int)net.initializer);
    for (int c = 0; c < 4; c++)
        fprintf(out, " %a %a", net.mean[c], net.std[c]);
    fputc('\n', out);
    for (int i = 0; i < net.n_layers; i++) {
        const struct layer_desc *l = &net.layers[i];
        fprintf(out, "%d %s %d %d %d %d %d %d %d %a\n", (int)l->kind, l->name, l->channels,
                l->kernel_h, l->kernel_w, l->stride_h, l->stride_w, l->pad_h, l->pad_w, l->rate);
    }
    net_desc_free(&net);
    return OK;
}

/* Names of networks are in the spec; here it counts what they stand for. */
static enum status describe_models(FILE *out, const struct spec *spec, struct error *e)
{
    const char *last = "";
    enum status status = OK;
    for (size_t i = 0; status == OK && i < spec->n_points; i++) {
        const char *name = config_text(&spec->points[i].config, OPT_MODEL);
        if (strcmp(name, last) != 0)
            status = describe_model(out, name, e);
        last = name;
    }
    return status;
}

static enum status describe_programs(FILE *out, const char *const *programs, struct error *e)
{
    for (; *programs; programs++) {
        char hex[SHA256_DIGEST_STRING_LENGTH];
        if (!SHA256File(*programs, hex))
            return error_at(e, ERR_SYSTEM, *programs, 0, 0, "cannot read: %s", strerror(errno));
        fprintf(out, "program %s\n", hex);
    }
    return OK;
}

static void describe_machine(FILE *out, const struct place_machine *m)
{
    char host[256] = "";
    gethostname(host, sizeof host - 1);
    fprintf(out, "machine %s %d %d %d %a %d %d\n", host, m->cores, m->hwthreads, m->numa_nodes,
            m->quota_cores, m->usable_cores, m->machine_cores);
}

static enum status describe(FILE *out, const struct identity_parts *parts, struct error *e)
{
    enum status status = spec_write(out, parts->spec, e);
    if (status == OK)
        status = describe_models(out, parts->spec, e);
    if (status == OK)
        status = describe_programs(out, parts->programs, e);
    if (parts->answers)
        fputs(parts->answers, out);
    describe_machine(out, &parts->machine);
    if (parts->link)
        fprintf(out, "link %s\n", parts->link);
    return status;
}

enum status identity_make(struct identity *identity, const struct identity_parts *parts,
                          struct error *e)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    if (!out)
        return error_set(e, ERR_MEMORY, "no memory for the campaign's identity");
    enum status status = describe(out, parts, e);
    if (fclose(out) != 0 && status == OK)
        status = error_set(e, ERR_MEMORY, "no memory for the campaign's identity");
    if (status == OK) {
        char first[17];
        SHA256Data((const uint8_t *)text, size, identity->hex);
        snprintf(first, sizeof first, "%.16s", identity->hex);
        identity->seed = strtoull(first, NULL, 16);
    }
    free(text);
    return status;
}
