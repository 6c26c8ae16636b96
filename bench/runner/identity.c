#include "bench/runner/identity.h"

#include <errno.h>
#include <sha2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/runner/hardware.h"

/* Files have names in the spec; here it counts what is in them. Those of the report alone, which a
 * user may mend after a run, do not count. */
static void describe_networks(FILE *out, const struct spec *spec)
{
    for (size_t i = 0; i < spec->n_inputs; i++)
        if (spec->inputs[i].option == OPT_MODEL)
            fprintf(out, "model %s\n", spec->inputs[i].digest);
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

/* Hosts of one kind are one machine: a campaign goes on on any of them. */
static void describe_machine(FILE *out, const struct place_machine *m)
{
    char cpu[256], caches[256];
    hardware_cpu(cpu, sizeof cpu);
    hardware_caches(caches, sizeof caches);
    fprintf(out, "machine %s, caches %s, %d %d %d %a %d %d\n", cpu, caches, m->cores, m->hwthreads,
            m->numa_nodes, m->quota_cores, m->usable_cores, m->machine_cores);
}

static enum status describe(FILE *out, const struct identity_parts *parts, struct error *e)
{
    enum status status = spec_write(out, parts->spec, e);
    describe_networks(out, parts->spec);
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
