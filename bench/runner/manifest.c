#include "bench/runner/manifest.h"

#include <jansson.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "bench/runner/hardware.h"

#ifdef __clang__
#define COMPILER __VERSION__
#else
#define COMPILER "GCC " __VERSION__
#endif

/* What may disturb a measurement, as the kernel tells it. A file that is not there is null. */
static const struct {
    const char *key, *path;
} facts[] = {
    {"governor", "/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"},
    {"intel_no_turbo", "/sys/devices/system/cpu/intel_pstate/no_turbo"},
    {"boost", "/sys/devices/system/cpu/cpufreq/boost"},
    {"smt", "/sys/devices/system/cpu/smt/active"},
    {"clocksource", "/sys/devices/system/clocksource/clocksource0/current_clocksource"},
    {"transparent_hugepage", "/sys/kernel/mm/transparent_hugepage/enabled"},
    {"numa_balancing", "/proc/sys/kernel/numa_balancing"},
    {"load_average", "/proc/loadavg"},
};

static json_t *text_or_null(const char *text)
{
    return text != NULL && *text ? json_string(text) : json_null();
}

static json_t *preflight_facts(void)
{
    json_t *json = json_object();
    char line[256];
    for (size_t i = 0; i < sizeof facts / sizeof *facts; i++) {
        file_first_line(facts[i].path, line, sizeof line);
        json_object_set_new(json, facts[i].key, text_or_null(line));
    }
    return json;
}

static json_t *machine_facts(const struct place_machine *m, const char *link)
{
    char host[256] = "", cpu[256], caches[256];
    struct utsname system;
    gethostname(host, sizeof host - 1);
    hardware_cpu(cpu, sizeof cpu);
    hardware_caches(caches, sizeof caches);
    uname(&system);
    return json_pack("{s:s, s:o, s:o, s:s, s:s, s:s, s:i, s:i, s:i, s:i, s:i, s:f, s:i, s:o}",
                     "host", host, "cpu", text_or_null(cpu), "caches", text_or_null(caches),
                     "architecture", system.machine, "system", system.sysname, "kernel",
                     system.release, "machine_cores", m->machine_cores, "cores", m->cores,
                     "hwthreads", m->hwthreads, "numa_nodes", m->numa_nodes, "usable_cores",
                     m->usable_cores, "quota_cores", m->quota_cores, "slurm_cpus", m->slurm_cpus,
                     "link", text_or_null(link));
}

static json_t *build_facts(const struct tools *tools)
{
    char path[PATH_BYTES], flags[1024] = "", hwloc[32];
    /* The Makefile leaves compiler and flags beside the programs. */
    if (path_format(path, NULL, "%s/flags", tools->folder) == OK)
        file_first_line(path, flags, sizeof flags);
    return json_pack("{s:s, s:s, s:o, s:s, s:s}", "revision", tools->revision, "compiler", COMPILER,
                     "flags", text_or_null(flags), "hwloc", place_library(hwloc), "jansson",
                     jansson_version_str());
}

/* What launches have in common beside the spec: the programs by their contents, and what they
 * say. */
static json_t *program_facts(const struct identity *identity)
{
    json_t *json = json_object();
    for (size_t i = 0; i < identity->n_programs; i++) {
        const struct identity_program *p = &identity->programs[i];
        const char *slash = strrchr(p->path, '/');
        json_object_set_new(json, slash != NULL ? slash + 1 : p->path, json_string(p->hex));
    }
    return json;
}

static json_t *launch_facts(const struct workloads *w)
{
    json_t *json = json_array();
    for (size_t i = 0; i < w->n_identities; i++)
        if (w->identities[i].said != NULL)
            json_array_append(json, w->identities[i].said);
    return json;
}

static json_t *command_line(char *const *argv)
{
    json_t *json = json_array();
    for (; *argv != NULL; argv++)
        json_array_append_new(json, json_string(*argv));
    return json;
}

static enum status write_json(FILE *out, const void *arg, struct error *e)
{
    const struct manifest *m = arg;
    char started[32];
    time_t now = time(NULL);
    struct tm utc;
    gmtime_r(&now, &utc);
    strftime(started, sizeof started, "%Y-%m-%dT%H:%M:%SZ", &utc);
    json_t *json =
        json_pack("{s:i, s:s, s:o, s:o, s:s, s:s, s:o, s:o, s:o, s:o, s:o}", "schema", 1,
                  "identity", m->identity->hex, "programs", program_facts(m->identity), "launches",
                  launch_facts(m->workloads), "started", started, "spec", m->spec, "set",
                  text_or_null(m->set), "command", command_line(m->command), "machine",
                  machine_facts(&m->machine, m->link), "preflight", preflight_facts(), "build",
                  build_facts(m->tools));
    int failed = json == NULL || json_dumpf(json, out, JSON_INDENT(2)) != 0;
    fputc('\n', out);
    json_decref(json);
    if (failed)
        return error_set(e, ERR_ARGUMENT, "the manifest holds text that is not UTF-8");
    return OK;
}

enum status manifest_write(const char *path, const struct manifest *manifest, struct error *e)
{
    return file_write(path, write_json, manifest, e);
}

bool manifest_read(const char *run_dir, struct manifest_facts *known)
{
    char path[PATH_BYTES];
    if (path_format(path, NULL, "%s/manifest.json", run_dir) != OK)
        return false;
    const char *identity = NULL, *revision = NULL;
    json_t *json = json_load_file(path, 0, NULL);
    bool found = json != NULL && json_unpack(json, "{s:s, s:{s:s}}", "identity", &identity, "build",
                                             "revision", &revision) == 0;
    if (found) {
        snprintf(known->identity, sizeof known->identity, "%s", identity);
        snprintf(known->revision, sizeof known->revision, "%s", revision);
    }
    json_decref(json);
    return found;
}
