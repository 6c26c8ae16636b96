#include <string.h>

#include "kernels/base/text.h"
#include "kernels/desc/net_desc.h"

static int wider(int width, const char *text)
{
    int length = (int)strlen(text);
    return length > width ? length : width;
}

/* Widths (characters) of the columns of layer names and kinds. Other columns have constant widths,
 * enough for every shape and parameter count and for 10 TFLOP per image. */
struct widths {
    int name, kind;
};

static struct widths measure(const struct net_desc *net)
{
    struct widths w = {(int)strlen("layer"), (int)strlen("kind")};
    for (int i = 0; i < net->n_layers; i++) {
        w.name = wider(w.name, net->layers[i].name);
        w.kind = wider(w.kind, layer_names()[net->layers[i].kind]);
    }
    return w;
}

static void print_row(FILE *out, struct widths w, const char *const words[3],
                      const char *const numbers[3])
{
    fprintf(out, "%-*s  %-*s  %-14s  %13s  %17s  %17s\n", w.name, words[0], w.kind, words[1],
            words[2], numbers[0], numbers[1], numbers[2]);
}

static void print_numbers(FILE *out, struct widths w, const char *const words[3], size_t params,
                          uint64_t forward, uint64_t backward)
{
    char p[TEXT_NUMBER], f[TEXT_NUMBER], b[TEXT_NUMBER];
    print_row(out, w, words,
              (const char *const[]){text_count(p, (long)params), text_count(f, (long)forward),
                                    text_count(b, (long)backward)});
}

size_t net_layer_params(const struct net_desc *net, const struct layer_desc *layer)
{
    size_t n = 0;
    for (int t = 0; t < layer->n_tensors; t++)
        n += net->tensors[layer->first_tensor + t].count;
    return n;
}

void net_desc_print(FILE *out, const struct net_desc *net)
{
    struct widths w = measure(net);
    char shape[40], bytes[TEXT_NUMBER];
    fprintf(out, "%s: %s in, %d classes; FLOPs per image\n", net->name,
            shape_text(shape, net->input), net->classes);
    print_row(out, w, (const char *const[]){"layer", "kind", "output"},
              (const char *const[]){"parameters", "forward FLOPs", "backward FLOPs"});
    for (int i = 0; i < net->n_layers; i++) {
        const struct layer_desc *l = &net->layers[i];
        const char *const words[] = {l->name, layer_names()[l->kind], shape_text(shape, l->out)};
        print_numbers(out, w, words, net_layer_params(net, l), l->flops_forward, l->flops_backward);
    }
    print_numbers(out, w, (const char *const[]){"total", "", ""}, net->n_params, net->flops_forward,
                  net->flops_backward);
    fprintf(out, "parameters in fp32: %s bytes\n", text_count(bytes, 4 * (long)net->n_params));
}
