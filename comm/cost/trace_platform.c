#include "comm/cost/trace.h"

/* Rate of a link (bytes per second); a link without limit gets one that takes no time. */
static double rate_of(const struct link_model *link)
{
    return link->beta_s > 0 ? 1 / link->beta_s : 1e15;
}

/* Each message passes the links of two hosts, which have half of the latency each. */
void trace_write_platform(FILE *out, const struct trace_step *step)
{
    const struct sweep_machine *m = step->machine;
    fprintf(out,
            "<?xml version=\"1.0\"?>\n"
            "<!DOCTYPE platform SYSTEM \"https://simgrid.org/simgrid.dtd\">\n"
            "<platform version=\"4.1\">\n"
            "  <cluster id=\"hosts\" prefix=\"host\" suffix=\"\" radical=\"0-%d\" core=\"%d\"\n"
            "           speed=\"%.10gf\" bw=\"%.10gBps\" lat=\"%.10gs\" "
            "sharing_policy=\"SPLITDUPLEX\"\n"
            "           loopback_bw=\"%.10gBps\" loopback_lat=\"%.10gs\"/>\n"
            "</platform>\n",
            node_view_of(&m->hosts, 0).nodes - 1, node_view_of(&m->hosts, 0).most, step->flop_per_s,
            rate_of(&m->network), (m->network.alpha_s + m->delay_s) / 2, rate_of(&m->memory),
            m->memory.alpha_s);
}

void trace_write_hosts(FILE *out, const struct trace_step *step)
{
    for (int rank = 0; rank < step->ranks; rank++)
        fprintf(out, "host%d\n", node_of_rank(&step->machine->hosts, rank));
}
