/* Collects the facts of a campaign, and finds the facts on which a point depends. Each kind of
 * facts.def has two functions, find_<kind> and concerns_<kind>. */
#include <sha2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/place/hardware.h"
#include "bench/runner/campaign.h"
#include "bench/runner/foreign.h"
#include "bench/sites/site.h"

/* program that binds each rank, and so runs before every workload */
#define PIN "pin"

static enum status add(json_t *facts, const char *name, const char *value, struct error *e)
{
    return json_object_set_new(facts, name, json_string(value)) == 0
               ? OK
               : error_no_memory(e, "the facts of a run");
}

/* ---- machine: hosts of one hardware class are one machine ---- */

static enum status find_machine(json_t *facts, const struct campaign *c, struct error *e)
{
    char class[HARDWARE_CLASS_BYTES];
    struct place_machine machine = place_machine(c->place);
    hardware_class(class, &machine);
    return add(facts, "machine", class, e);
}

/* Returns whether the point depends on this machine's hardware class. False for `site: ssh`, whose
 * ranks can run on other machines. */
static bool concerns_machine(const char *of, const struct point *point)
{
    return config_int(&point->config, OPT_SITE) != SITE_ssh;
}

/* ---- host: the hardware class of each machine that ssh reaches ---- */

static enum status find_host(json_t *facts, const struct campaign *c, struct error *e)
{
    for (size_t i = 0; i < c->machines.n; i++) {
        const struct machine *m = &c->machines.all[i];
        char name[512];
        snprintf(name, sizeof name, "host:%s", m->name);
        if (m->reason.status == OK)
            TRY(add(facts, name, m->class, e));
    }
    return OK;
}

static bool concerns_host(const char *of, const struct point *point)
{
    return config_int(&point->config, OPT_SITE) == SITE_ssh && machines_has(&point->config, of);
}

/* ---- link: the link of each site that has one, unless the point's options state it ---- */

static enum status find_link(json_t *facts, const struct campaign *c, struct error *e)
{
    for (size_t i = 0; i < c->spec.n_points; i++) {
        const struct config *config = &c->spec.points[i].config;
        char name[128], link[LINK_BYTES];
        snprintf(name, sizeof name, "link:%s", config_text(config, OPT_SITE));
        if (json_object_get(facts, name) == NULL && site_link(link, config))
            TRY(add(facts, name, link, e));
    }
    return OK;
}

static bool concerns_link(const char *of, const struct point *point)
{
    return strcmp(of, config_text(&point->config, OPT_SITE)) == 0 &&
           config_has_usual_link(&point->config);
}

/* ---- program: the contents of workloads, helpers and pin ---- */

static enum status find_program(json_t *facts, const struct campaign *c, struct error *e)
{
    for (size_t i = 0; i < c->programs.n; i++) {
        const struct program *p = &c->programs.all[i];
        char name[512];
        snprintf(name, sizeof name, "program:%s", file_name(p->path));
        TRY(add(facts, name, p->hex, e));
    }
    return OK;
}

static bool concerns_program(const char *of, const struct point *point)
{
    const struct workload_row *row = config_workload(&point->config);
    if (row->foreign && strcmp(of, foreign_name(&point->config)) == 0)
        return true;
    return strcmp(of, PIN) == 0 || strcmp(of, row->name) == 0 || strcmp(of, row->helper) == 0;
}

/* ---- workload: libraries, data and instruction set, as the program reports them for a point
 * ---- */

static enum status find_workload(json_t *facts, const struct campaign *c, struct error *e)
{
    const char *about, *key;
    json_t *identity, *said;
    json_object_foreach(c->workloads.identities, about, identity)
    {
        json_object_foreach(identity, key, said)
        {
            char name[1024];
            if (!json_is_string(said) || !json_string_length(said))
                continue;
            snprintf(name, sizeof name, "workload:%s of %s", key, about);
            TRY(add(facts, name, json_string_value(said), e));
        }
    }
    return OK;
}

static bool concerns_workload(const char *of, const struct point *point)
{
    const char *about = strstr(of, " of ");
    char *own = workload_about(point);
    bool same = own != NULL && about != NULL && strcmp(about + strlen(" of "), own) == 0;
    free(own);
    return same;
}

/* ---- All kinds ---- */

static const struct {
    const char *kind;
    enum status (*find)(json_t *facts, const struct campaign *c, struct error *e);
    bool (*concerns)(const char *of, const struct point *point);
} kinds[] = {
#define FACT(kind, text, back) {#kind, find_##kind, concerns_##kind},
#include "bench/runner/facts.def"
};
#define N_KINDS (sizeof kinds / sizeof *kinds)

enum status facts_find(json_t **facts, const struct campaign *c, struct error *e)
{
    *facts = json_object();
    if (*facts == NULL)
        return error_no_memory(e, "the facts of a run");
    for (size_t i = 0; i < N_KINDS; i++)
        TRY(kinds[i].find(*facts, c, e));
    return OK;
}

static bool concerns(const char *name, const struct point *point)
{
    const char *of;
    size_t kind = fact_kind(name, &of);
    return kind < N_KINDS && kinds[kind].concerns(of, point);
}

bool facts_allow_resume(const json_t *was, const json_t *is, const struct spec *spec)
{
    const char *name = facts_differ(was, is, NULL);
    size_t kept = 0;
    for (size_t i = 0; i < spec->n_points && name != NULL; i++) {
        bool same = true;
        for (const char *fact = name; fact != NULL && same; fact = facts_differ(was, is, fact))
            same = !concerns(fact, &spec->points[i]);
        if (!same && !config_is_peer(&spec->points[i].config))
            return false;
        kept += same;
    }
    return name == NULL || kept > 0;
}

enum status facts_key(char key[FACTS_KEY_BYTES], const json_t *facts, const struct point *point,
                      struct error *e)
{
    const char *name;
    json_t *value, *own = json_pack("{s:s}", "point", point->id);
    char hex[65];
    json_object_foreach((json_t *)facts, name, value) if (concerns(name, point))
        json_object_set(own, name, value);
    enum status status =
        own != NULL ? facts_digest(hex, own, e) : error_no_memory(e, "the key of a launch");
    json_decref(own);
    if (status == OK)
        snprintf(key, FACTS_KEY_BYTES, "%.*s", FACTS_KEY_BYTES - 1, hex);
    return status;
}
