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

static enum status read_program(struct identity_program *p, const char *path, struct error *e)
{
    *p = (struct identity_program){.path = path};
    if (stat(path, &p->seen) != 0 || SHA256File(path, p->hex) == NULL)
        return error_at(e, ERR_SYSTEM, path, 0, 0, "cannot read: %s", strerror(errno));
    return OK;
}

static enum status read_programs(struct identity *identity, const char *const *programs,
                                 struct error *e)
{
    for (identity->n_programs = 0; *programs != NULL; programs++)
        TRY(read_program(&identity->programs[identity->n_programs++], *programs, e));
    return OK;
}

static bool is_untouched(const struct identity_program *p)
{
    struct stat now;
    return stat(p->path, &now) == 0 && now.st_dev == p->seen.st_dev &&
           now.st_ino == p->seen.st_ino && now.st_size == p->seen.st_size &&
           now.st_mtim.tv_sec == p->seen.st_mtim.tv_sec &&
           now.st_mtim.tv_nsec == p->seen.st_mtim.tv_nsec;
}

enum status identity_check(struct identity *identity, struct error *e)
{
    for (size_t i = 0; i < identity->n_programs; i++) {
        struct identity_program *p = &identity->programs[i], now;
        if (is_untouched(p))
            continue;
        TRY(read_program(&now, p->path, e));
        if (strcmp(now.hex, p->hex) != 0)
            return error_at(e, ERR_DATA, p->path, 0, 0,
                            "changed while the campaign ran: its SHA-256 was %.12s, is %.12s; put "
                            "back, the same command goes on; as it is, it begins a new run",
                            p->hex, now.hex);
        *p = now;
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

static enum status describe(FILE *out, const struct identity_parts *parts,
                            const struct identity *identity, struct error *e)
{
    enum status status = spec_write(out, parts->spec, e);
    describe_networks(out, parts->spec);
    for (size_t i = 0; i < identity->n_programs; i++)
        fprintf(out, "program %s\n", identity->programs[i].hex);
    if (parts->answers != NULL)
        fputs(parts->answers, out);
    describe_machine(out, &parts->machine);
    if (parts->link != NULL)
        fprintf(out, "link %s\n", parts->link);
    return status;
}

enum status identity_make(struct identity *identity, const struct identity_parts *parts,
                          struct error *e)
{
    char *text = NULL;
    size_t size = 0;
    TRY(read_programs(identity, parts->programs, e));
    FILE *out = open_memstream(&text, &size);
    if (out == NULL)
        return error_no_memory(e, "the campaign's identity");
    enum status status = describe(out, parts, identity, e);
    if (fclose(out) != 0 && status == OK)
        status = error_no_memory(e, "the campaign's identity");
    if (status == OK) {
        char first[17];
        SHA256Data((const uint8_t *)text, size, identity->hex);
        snprintf(first, sizeof first, "%.16s", identity->hex);
        identity->seed = strtoull(first, NULL, 16);
    }
    free(text);
    return status;
}
