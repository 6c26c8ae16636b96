#include "bench/place/view.h"

#include <math.h>

static struct probe probe(const bool *cpus, int n, double seconds)
{
    return seconds > 0 ? probe_run(cpus, n, seconds) : (struct probe){NAN, NAN};
}

void view_before(struct view *view, const bool *cpus, int n, double probe_s)
{
    view->probe = probe(cpus, n, probe_s);
    view->known = load_read(&view->load, cpus, n);
}

void view_after(struct view *view, const bool *cpus, int n, double probe_s)
{
    view->known = load_read(&view->load, cpus, n);
    view->probe = probe(cpus, n, probe_s);
}
