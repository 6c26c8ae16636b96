#include "comm/cost/trace.h"

/* Returns the rate of a link (bytes per second); 1e15 for a link without limit. */
static double rate_of(const struct link_model *link)
{
    return link->beta_s > 0 ? 1 / link->beta_s : 1e15;
}

/* Writes the leaf and spine switches. Writes nothing if one switch connects all hosts. A leaf has
 * one link to each spine switch. */
static void write_topology(FILE *out, const struct sweep_machine *m, int hosts)
{
    if (m->leaf_hosts > 0)
        fprintf(out, "           topology=\"FAT_TREE\" topo_parameters=\"2;%d,%d;1,%d;1,1\"\n",
                m->leaf_hosts, hosts / m->leaf_hosts, m->leaf_spines);
}

/* Divides the latency equally among the links of the longest path: 2 links, or 4 with leaf
 * switches. */
void trace_write_platform(FILE *out, const struct trace_step *step)
{
    const struct sweep_machine *m = step->machine;
    const struct node_view view = node_view_of(&m->hosts, 0);
    fprintf(out,
            "<?xml version=\"1.0\"?>\n"
            "<!DOCTYPE platform SYSTEM \"https://simgrid.org/simgrid.dtd\">\n"
            "<platform version=\"4.1\">\n"
            "  <cluster id=\"hosts\" prefix=\"host\" suffix=\"\" radical=\"0-%d\" core=\"%d\"\n"
            "           speed=\"%.10gf\" bw=\"%.10gBps\" lat=\"%.10gs\" "
            "sharing_policy=\"SPLITDUPLEX\"\n",
            view.nodes - 1, view.most, step->flop_per_s, rate_of(&m->network),
            (m->network.alpha_s + m->delay_s) / (m->leaf_hosts > 0 ? 4 : 2));
    write_topology(out, m, view.nodes);
    fprintf(out, "           loopback_bw=\"%.10gBps\" loopback_lat=\"%.10gs\"/>\n</platform>\n",
            rate_of(&m->memory), m->memory.alpha_s);
}

void trace_write_hosts(FILE *out, const struct trace_step *step)
{
    for (int rank = 0; rank < step->ranks; rank++)
        fprintf(out, "host%d\n", node_of_rank(&step->machine->hosts, rank));
}
