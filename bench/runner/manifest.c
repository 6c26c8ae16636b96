#include "bench/runner/manifest.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "bench/base/json.h"
#include "bench/place/hardware.h"

#ifdef __clang__
#define COMPILER __VERSION__
#else
#define COMPILER "GCC " __VERSION__
#endif

/* files of kernel settings that affect measurements, and of the load average; a missing file is
 * null in the manifest */
static const struct {
    const char *key, *path;
} readings[] = {
    {"governor", "/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"},
    {"intel_no_turbo", "/sys/devices/system/cpu/intel_pstate/no_turbo"},
    {"boost", "/sys/devices/system/cpu/cpufreq/boost"},
    {"smt", "/sys/devices/system/cpu/smt/active"},
    {"clocksource", "/sys/devices/system/clocksource/clocksource0/current_clocksource"},
    {"transparent_hugepage", "/sys/kernel/mm/transparent_hugepage/enabled"},
    {"numa_balancing", "/proc/sys/kernel/numa_balancing"},
    {"load_average", "/proc/loadavg"},
};

static json_t *preflight_facts(void)
{
    json_t *json = json_object();
    char line[256];
    for (size_t i = 0; i < sizeof readings / sizeof *readings; i++) {
        file_first_line(readings[i].path, line, sizeof line);
        json_object_set_new(json, readings[i].key, json_text_or_null(line));
    }
    return json;
}

/* Describes the machine. If ssh starts the ranks, usable_cores is the smallest number of usable
 * cores of the machines that ssh reached. */
static json_t *machine_facts(const struct campaign *c)
{
    char host[256] = "", cpu[256], caches[256], link[LINK_BYTES] = "";
    struct utsname system;
    struct place_machine m = place_machine(c->place);
    int cores = machines_cores(&c->machines, NULL);
    bool linked = sites_link(link, &c->spec);
    gethostname(host, sizeof host - 1);
    hardware_cpu(cpu, sizeof cpu);
    hardware_caches(caches, sizeof caches);
    uname(&system);
    return json_pack(
        "{s:s, s:o, s:o, s:s, s:s, s:s, s:i, s:i, s:i, s:i, s:i, s:f, s:i, s:o}", "host", host,
        "cpu", json_text_or_null(cpu), "caches", json_text_or_null(caches), "architecture",
        system.machine, "system", system.sysname, "kernel", system.release, "machine_cores",
        m.machine_cores, "cores", m.cores, "hwthreads", m.hwthreads, "numa_nodes", m.numa_nodes,
        "usable_cores", cores > 0 ? cores : m.usable_cores, "quota_cores", m.quota_cores,
        "slurm_cpus", m.slurm_cpus, "link", json_text_or_null(linked ? link : NULL));
}

static json_t *build_facts(const struct tools *tools)
{
    char path[PATH_BYTES], flags[1024] = "", hwloc[32];
    /* file with the compiler's options, which the Makefile writes */
    if (path_format(path, NULL, "%s/flags", tools->folder) == OK)
        file_first_line(path, flags, sizeof flags);
    return json_pack("{s:s, s:s, s:o, s:s, s:s}", "revision", tools_revision(tools), "compiler",
                     COMPILER, "flags", json_text_or_null(flags), "hwloc", place_library(hwloc),
                     "jansson", jansson_version_str());
}

static json_t *command_line(char *const *argv)
{
    json_t *json = json_array();
    for (; *argv != NULL; argv++)
        json_array_append_new(json, json_text(*argv));
    return json;
}

static void now_text(char text[32])
{
    time_t now = time(NULL);
    struct tm utc;
    gmtime_r(&now, &utc);
    strftime(text, 32, "%Y-%m-%dT%H:%M:%SZ", &utc);
}

static json_t *begin_json(const struct campaign *c, const char *identity)
{
    char started[32];
    now_text(started);
    return json_pack("{s:i, s:s, s:O, s:s, s:o, s:o, s:o, s:o, s:o, s:o}", "schema", 2, "identity",
                     identity, "facts", c->facts, "started", started, "spec",
                     json_text(c->request->spec), "set", json_text_or_null(c->request->set),
                     "command", command_line(c->request->command), "machine", machine_facts(c),
                     "preflight", preflight_facts(), "build", build_facts(c->tools));
}

static enum status write_json(FILE *out, const void *arg, struct error *e)
{
    return json_put(out, arg, JSON_INDENT(2))
               ? OK
               : error_set(e, ERR_ARGUMENT,
                           "the manifest cannot be written: it contains text that is not UTF-8");
}

enum status manifest_write(const char *path, const struct campaign *c, struct error *e)
{
    char identity[65];
    TRY(facts_digest(identity, c->facts, e));
    json_t *json = begin_json(c, identity);
    enum status status = file_write(path, write_json, json, e);
    json_decref(json);
    return status;
}

/* Moves the run's earlier command, spec path and --set to the array `earlier`, and stores the
 * current values. `kept`: name of the file with the earlier spec. */
static void take_command(json_t *json, const struct campaign_request *m, const char *kept)
{
    char at[32];
    now_text(at);
    json_t *earlier = json_object_get(json, "earlier");
    json_t *was = json_pack("{s:s, s:s, s:O*, s:O*, s:O*}", "kept", kept, "until", at, "spec",
                            json_object_get(json, "spec"), "set", json_object_get(json, "set"),
                            "command", json_object_get(json, "command"));
    if (!json_is_array(earlier))
        json_object_set_new(json, "earlier", earlier = json_array());
    json_array_append_new(earlier, was);
    json_object_set_new(json, "spec", json_text(m->spec));
    json_object_set_new(json, "set", json_text_or_null(m->set));
    json_object_set_new(json, "command", command_line(m->command));
}

/* Stores the current facts. Earlier values of changed facts move to `earlier_facts`. Returns false
 * if nothing changed. */
static bool take_facts(json_t *json, const json_t *is)
{
    char at[32];
    json_t *facts = json_object_get(json, "facts"), *were = json_object();
    json_t *earlier = json_object_get(json, "earlier_facts");
    size_t known = json_object_size(facts);
    const char *name = NULL;
    while ((name = facts_differ(facts, is, name)) != NULL)
        json_object_set(were, name, json_object_get(facts, name));
    json_object_update(facts, (json_t *)is);
    bool differ = json_object_size(were) > 0;
    if (!json_is_array(earlier) && differ)
        json_object_set_new(json, "earlier_facts", earlier = json_array());
    now_text(at);
    if (differ)
        json_array_append_new(earlier, json_pack("{s:s, s:O}", "until", at, "facts", were));
    json_decref(were);
    return differ || json_object_size(facts) > known;
}

enum status manifest_update(const char *path, const struct campaign *c, const char *kept,
                            struct error *e)
{
    json_error_t why;
    char link[LINK_BYTES];
    enum status status = OK;
    json_t *json = json_load_file(path, 0, &why);
    if (json == NULL)
        return error_at(e, ERR_DATA, path, why.line, 0, "not a manifest: %s", why.text);
    json_t *machine = json_object_get(json, "machine");
    bool changed = take_facts(json, c->facts);
    if (json_is_null(json_object_get(machine, "link")) && sites_link(link, &c->spec))
        json_object_set_new(machine, "link", json_string(link));
    if (kept != NULL)
        take_command(json, c->request, kept);
    if (kept != NULL || changed)
        status = file_write(path, write_json, json, e);
    json_decref(json);
    return status;
}
