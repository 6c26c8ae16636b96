#include "bench/doctor/print.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/base/terminal.h"
#include "kernels/base/text.h"

/* Largest number of links for which each link gets a line of its own. If there are more links, only
 * slow links and links within a node get their own lines; one line sums up the others. A link is a
 * pair of sending and receiving node. */
enum { LINKS_SHOWN = 12 };

/* ---- Nodes ---- */

static bool is_on(const struct doctor_core *c, const struct doctor_node *n)
{
    return strcmp(c->node, n->name) == 0;
}

/* Formats a ratio with two decimals, such as "0.90"; "-" if it is unknown. */
static char *text_ratio(char text[TEXT_NUMBER], double ratio)
{
    return isnan(ratio) ? strcpy(text, "-") : text_fixed(text, ratio, 2);
}

static const char *or_dash(const char *text)
{
    return text[0] != '\0' ? text : "-";
}

static void print_node(FILE *out, const struct doctor_node *n, const struct diagnosis *d)
{
    double gemm = 0, memory = 0, latency = 0, ratio = NAN, on_core = NAN;
    char texts[7][TEXT_NUMBER];
    for (size_t i = 0; i < d->n_cores; i++) {
        const struct doctor_core *c = &d->cores[i];
        if (!is_on(c, n))
            continue;
        gemm += c->gemm_gflop_per_s;
        memory += c->memory_gbyte_per_s;
        latency += c->latency_ns / n->ranks;
        ratio = fmin(ratio, c->gemm_ratio); /* fmin returns the number if the other value is NAN */
        on_core = fmin(on_core, c->on_core_pct);
    }
    if (isnan(n->quota_cores))
        strcpy(texts[6], "-");
    else
        text_significant(texts[6], n->quota_cores, 3);
    fprintf(out, "%-16.16s %5.0f %9s %7s %7s %9s %8s %5s  %-12.12s %-5.5s %-10.10s %s\n", n->name,
            n->ranks, text_significant(texts[0], gemm, 4), text_ratio(texts[1], ratio),
            text_fixed(texts[2], on_core, 1), text_significant(texts[3], memory, 3),
            text_significant(texts[4], latency, 3), text_significant(texts[5], n->clock_read_ns, 2),
            or_dash(n->governor), or_dash(n->turbo), or_dash(n->clock_source), texts[6]);
}

static void print_nodes(FILE *out, const struct examination *x, const struct diagnosis *d)
{
    fprintf(out, "%-16s %5s %9s %7s %7s %9s %8s %5s  %-12s %-5s %-10s %s\n", "node", "cores",
            "GFLOP/s", "slowest", "on it %", "mem. GB/s", "load ns", "clk", "governor", "turbo",
            "clock", "limit");
    for (size_t i = 0; i < x->n_nodes; i++)
        print_node(out, &x->nodes[i], d);
}

/* ---- Links ---- */

static void name_transport(char text[64], const struct examination *x, const struct direction *way,
                           const char *interface)
{
    if (interface[0] != '\0')
        snprintf(text, 64, "%s, %.40s", strchr(interface, ':') != NULL ? "RDMA" : "TCP", interface);
    else if (way->from == way->to)
        snprintf(text, 64, "shared memory");
    else
        snprintf(text, 64, "%s",
                 strcmp(x->nodes[way->from].machine, x->nodes[way->to].machine) == 0
                     ? "memory of the machine"
                     : "unknown: no interface counted the bytes");
}

static void print_link(FILE *out, const struct examination *x, const struct diagnosis *d, size_t i)
{
    const struct doctor_link *l = &d->links[i];
    char name[64], transport[64], texts[3][TEXT_NUMBER];
    snprintf(name, sizeof name, "%.28s -> %.28s", l->from, l->to);
    name_transport(transport, x, &d->directions[i], l->interface);
    fprintf(out, "%-34.34s %9s %9s %10s  %s\n", name,
            text_significant(texts[0], 1000 * l->gbyte_per_s, 4),
            text_ratio(texts[1], l->gbyte_per_s_ratio),
            text_significant(texts[2], l->latency_us, 3), transport);
}

static bool is_shown(const struct diagnosis *d, size_t i)
{
    return d->n_links <= LINKS_SHOWN || d->directions[i].slow ||
           d->directions[i].from == d->directions[i].to;
}

/* Prints one line that sums up the links that are not printed one by one. */
static void print_rest(FILE *out, const struct diagnosis *d)
{
    double least = INFINITY, most = 0, latency = 0;
    size_t n = 0;
    for (size_t i = 0; i < d->n_links; i++) {
        if (is_shown(d, i))
            continue;
        least = fmin(least, d->links[i].gbyte_per_s);
        most = fmax(most, d->links[i].gbyte_per_s);
        latency = fmax(latency, d->links[i].latency_us);
        n++;
    }
    if (n > 0)
        fprintf(out, "%zu others: %.4g to %.4g MB/s, at most %.3g us (links.csv)\n", n,
                1000 * least, 1000 * most, latency);
}

static void print_links(FILE *out, const struct examination *x, const struct diagnosis *d)
{
    if (d->n_links == 0)
        return;
    fprintf(out, "\n%-34s %9s %9s %10s  %s\n", "link", "MB/s", "of others", "latency us", "over");
    for (size_t i = 0; i < d->n_links; i++)
        if (is_shown(d, i))
            print_link(out, x, d, i);
    print_rest(out, d);
}

/* ---- Findings ---- */

/* Findings are wrapped to the terminal's width if it exceeds LEAST_COLUMNS, otherwise to 100
 * columns. */
enum { LEAST_COLUMNS = 33 };

static void print_findings(FILE *out, const struct diagnosis *d, int width)
{
    int columns = width > LEAST_COLUMNS ? width : 100;
    fputc('\n', out);
    if (d->n_counting == 0)
        fputs("No problem found.\n", out);
    for (size_t i = 0; i < d->n_findings; i++) {
        terminal_print_entry(out, d->findings[i].counts > 0 ? "FOUND" : "note", 6,
                             d->findings[i].text, columns);
        if (i + 1 == d->n_findings || strcmp(d->findings[i].advice, d->findings[i + 1].advice) != 0)
            terminal_print_entry(out, "      to do:", 13, d->findings[i].advice, columns);
    }
}

void doctor_print(FILE *out, const struct examination *x, const struct diagnosis *d, int width)
{
    print_nodes(out, x, d);
    print_links(out, x, d);
    print_findings(out, d, width);
}
