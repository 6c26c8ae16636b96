#include "bench/place/view.h"

#include <math.h>

#include "bench/place/cgroup.h"

static struct probe probe(const bool *cpus, int n, double seconds)
{
    return seconds > 0 ? probe_run(cpus, n, seconds) : (struct probe){NAN, NAN};
}

static double oom_kills(void)
{
    return cgroup_oom_kills("/proc/self/cgroup", "/proc/self/mountinfo");
}

void view_before(struct view *view, const bool *cpus, int n, double probe_s)
{
    view->probe = probe(cpus, n, probe_s);
    view->known = load_read(&view->load, cpus, n);
    view->oom_kills = oom_kills();
}

void view_after(struct view *view, const bool *cpus, int n, double probe_s)
{
    view->oom_kills = oom_kills();
    view->known = load_read(&view->load, cpus, n);
    view->probe = probe(cpus, n, probe_s);
}
