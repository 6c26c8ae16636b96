#include "bench/place/place.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/place/cgroup.h"
#include "bench/place/slurm.h"
#include "bench/place/topology.h"
#include "kernels/base/mem.h"

#define SYNTHETIC "synthetic:"

static enum status topology_source(hwloc_topology_t topology, const char *xml, struct error *e)
{
    int failed = 0;
    if (xml != NULL && strncmp(xml, SYNTHETIC, strlen(SYNTHETIC)) == 0)
        failed = hwloc_topology_set_synthetic(topology, xml + strlen(SYNTHETIC));
    else if (xml != NULL)
        failed = hwloc_topology_set_xml(topology, xml);
    if (failed)
        return error_at(e, ERR_DATA, xml, 0, 0,
                        "hwloc cannot read this description of a machine: %s", strerror(errno));
    return OK;
}

static int cores_depth(hwloc_topology_t topology)
{
    /* Some virtual machines report processors but no cores. Then each processor counts as a
     * core. */
    return hwloc_get_type_or_below_depth(topology, HWLOC_OBJ_CORE);
}

/* Restricts the topology to the processors that it marks as allowed. On the real machine, these are
 * the cpuset of this process's cgroup. `real`: also restricts the topology to this thread's
 * affinity mask. */
static enum status topology_restrict(struct place *p, bool real, struct error *e)
{
    hwloc_bitmap_t usable = hwloc_bitmap_alloc();
    hwloc_bitmap_t mask = hwloc_bitmap_alloc();
    enum status status = OK;
    if (!usable || !mask)
        status = error_no_memory(e, "processor sets");
    else if (hwloc_bitmap_copy(usable, hwloc_topology_get_allowed_cpuset(p->topology)) ||
             (real && hwloc_get_cpubind(p->topology, mask, HWLOC_CPUBIND_THREAD)) ||
             (real && hwloc_bitmap_and(usable, usable, mask)) ||
             hwloc_topology_restrict(p->topology, usable, 0))
        status =
            error_set(e, ERR_SYSTEM, "cannot read the processors that this process may use: %s",
                      strerror(errno));
    hwloc_bitmap_free(usable);
    hwloc_bitmap_free(mask);
    return status;
}

static enum status topology_load(struct place *p, const char *xml, struct error *e)
{
    if (hwloc_topology_init(&p->topology))
        return error_no_memory(e, "the topology");
    TRY(topology_source(p->topology, xml, e));
    /* Loads disallowed processors too, so that the whole machine can be counted. */
    hwloc_topology_set_flags(p->topology, HWLOC_TOPOLOGY_FLAG_INCLUDE_DISALLOWED);
    if (hwloc_topology_load(p->topology))
        return error_at(e, xml != NULL ? ERR_DATA : ERR_SYSTEM, xml, 0, 0,
                        "hwloc cannot load the topology: %s", strerror(errno));
    p->machine.machine_cores = hwloc_get_nbobjs_by_depth(p->topology, cores_depth(p->topology));
    p->machine_hwthreads = hwloc_get_nbobjs_by_type(p->topology, HWLOC_OBJ_PU);
    return topology_restrict(p, xml == NULL, e);
}

static hwloc_obj_t numa_of(hwloc_topology_t topology, hwloc_obj_t core)
{
    hwloc_obj_t node = NULL;
    while ((node = hwloc_get_next_obj_by_type(topology, HWLOC_OBJ_NUMANODE, node)) != NULL)
        if (node->cpuset && hwloc_bitmap_intersects(node->cpuset, core->cpuset))
            return node;
    return NULL;
}

static struct place_core describe_core(hwloc_topology_t topology, hwloc_obj_t core)
{
    hwloc_obj_t node = numa_of(topology, core);
    hwloc_obj_t cache = hwloc_get_ancestor_obj_by_type(topology, HWLOC_OBJ_L3CACHE, core);
    struct place_core c = {.cpus = core->cpuset};
    c.numa = node ? (int)node->logical_index : 0;
    c.numa_cpus = node ? node->cpuset : hwloc_topology_get_topology_cpuset(topology);
    c.cache = cache ? (int)cache->logical_index : -1 - c.numa;
    return c;
}

static enum status cores_collect(struct place *p, struct error *e)
{
    int depth = cores_depth(p->topology);
    p->machine.cores = hwloc_get_nbobjs_by_depth(p->topology, depth);
    p->machine.hwthreads = hwloc_get_nbobjs_by_type(p->topology, HWLOC_OBJ_PU);
    TRY(MEM_NEW(p->cores, (size_t)p->machine.cores, "cores", e));
    for (int i = 0; i < p->machine.cores; i++) {
        hwloc_obj_t core = hwloc_get_obj_by_depth(p->topology, depth, (unsigned)i);
        p->cores[i] = describe_core(p->topology, core);
        /* Cores of a NUMA node are neighbours in hwloc's order. */
        if (i == 0 || p->cores[i].numa != p->cores[i - 1].numa)
            p->machine.numa_nodes++;
    }
    place_limit(p, 0);
    return OK;
}

/* Returns the number of cores of this node that belong to the Slurm job. Some sites let Slurm count
 * hardware threads, others cores. */
static int slurm_cores(const struct place *p)
{
    const struct place_machine *m = &p->machine;
    /* If Slurm has bound the job, m->cores counts just the job's cores, so the unit of slurm_cpus
     * does not matter. */
    if (m->slurm_cpus == 0 || (m->cores < m->machine_cores && m->slurm_cpus >= m->cores))
        return m->cores;
    int threads = p->slurm_threads_per_core;
    if (threads == 0)
        threads = (p->machine_hwthreads + m->machine_cores - 1) / m->machine_cores;
    return m->slurm_cpus < threads ? 1 : m->slurm_cpus / threads;
}

static void count_usable_cores(struct place *p)
{
    struct place_machine *m = &p->machine;
    int slurm = slurm_cores(p);
    m->usable_cores = slurm < m->cores ? slurm : m->cores;
    if (m->quota_cores > 0 && m->quota_cores < m->usable_cores)
        m->usable_cores = m->quota_cores < 1 ? 1 : (int)m->quota_cores;
}

void place_limit(struct place *place, double quota_cores)
{
    place->machine.quota_cores = quota_cores;
    count_usable_cores(place);
}

void place_limit_slurm(struct place *place, struct slurm_share share)
{
    place->machine.slurm_cpus = share.cpus;
    place->machine.slurm_nodes = share.nodes;
    place->slurm_threads_per_core = share.threads_per_core;
    count_usable_cores(place);
}

/* Applies limits of the real machine: cgroup quota and Slurm job. */
static enum status limit_own(struct place *p, struct error *e)
{
    struct slurm_share share;
    TRY(slurm_share_read(&share, e));
    place_limit(p, cgroup_quota_cores("/proc/self/cgroup", "/proc/self/mountinfo"));
    place_limit_slurm(p, share);
    return OK;
}

enum status place_open(struct place **place, const char *xml, struct error *e)
{
    *place = NULL;
    struct place *p;
    TRY(MEM_NEW(p, 1, "the topology", e));
    enum status status = topology_load(p, xml, e);
    THEN(status, cores_collect(p, e));
    if (status == OK && xml == NULL)
        status = limit_own(p, e);
    if (status != OK) {
        place_close(p);
        return status;
    }
    *place = p;
    return OK;
}

void place_close(struct place *place)
{
    if (place == NULL)
        return;
    if (place->topology)
        hwloc_topology_destroy(place->topology);
    free(place->cores);
    free(place);
}

struct place_machine place_machine(const struct place *place)
{
    return place->machine;
}

char *place_library(char text[32])
{
    unsigned version = hwloc_get_api_version();
    snprintf(text, 32, "hwloc API %u.%u.%u", version >> 16, version >> 8 & 0xff, version & 0xff);
    return text;
}
