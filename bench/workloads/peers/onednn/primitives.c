#include "bench/workloads/peers/onednn/primitives.h"

#include <math.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/workloads/peers/onednn/version.h"
#include "kernels/base/clock.h"
#include "kernels/base/mem.h"

/* Number of timed executions of a primitive, after one untimed execution. */
enum { TRIALS = 3 };

enum status dnn_status(dnnl_status_t status, const char *call, struct error *e)
{
    static const char *const names[] = {"success", "out of memory", "invalid arguments",
                                        "unimplemented"};
    const char *name = (size_t)status < sizeof names / sizeof *names ? names[status] : "failure";
    return status == dnnl_success
               ? OK
               : error_set(e, status == dnnl_out_of_memory ? ERR_MEMORY : ERR_UNAVAILABLE,
                           "oneDNN: %.*s: %s", (int)strcspn(call, "("), call, name);
}

enum status dnn_open(struct dnn *d, int threads, struct error *e)
{
    *d = (struct dnn){.n_owned = 0};
    omp_set_num_threads(threads);
    DNN(dnnl_engine_create(&d->engine, dnnl_cpu, 0));
    DNN(dnnl_stream_create(&d->stream, d->engine, dnnl_stream_default_flags));
    return OK;
}

void dnn_close(struct dnn *d)
{
    for (size_t i = d->n_owned; i-- > 0;) {
        dnnl_primitive_destroy(d->owned[i].primitive);
        dnnl_primitive_desc_destroy(d->owned[i].desc);
        dnnl_memory_destroy(d->owned[i].memory);
    }
    free(d->owned);
    dnnl_stream_destroy(d->stream);
    dnnl_engine_destroy(d->engine);
    *d = (struct dnn){.n_owned = 0};
}

/* Adds an object to the list of objects that dnn_close frees. */
static enum status own(struct dnn *d, struct dnn_owned owned, struct error *e)
{
    TRY(MEM_GROW(d->owned, d->n_owned, "oneDNN's primitives", e));
    d->owned[d->n_owned++] = owned;
    return OK;
}

enum status onednn_name(char *text, size_t size, struct error *e)
{
    static const struct {
        dnnl_cpu_isa_t isa;
        const char *name;
    } sets[] = {{dnnl_cpu_isa_avx512_core_amx, "avx512_core_amx"},
                {dnnl_cpu_isa_avx512_core_bf16, "avx512_core_bf16"},
                {dnnl_cpu_isa_avx512_core_vnni, "avx512_core_vnni"},
                {dnnl_cpu_isa_avx512_core, "avx512_core"},
                {dnnl_cpu_isa_avx2, "avx2"},
                {dnnl_cpu_isa_sse41, "sse41"}};
    const dnnl_version_t *v = dnnl_version();
    dnnl_cpu_isa_t isa = dnnl_get_effective_cpu_isa();
    size_t i = 0;
    (void)e;
    while (i + 1 < sizeof sets / sizeof *sets && sets[i].isa != isa)
        i++;
    snprintf(text, size, "oneDNN %d.%d.%d %s", v->major, v->minor, v->patch,
             sets[i].isa == isa ? sets[i].name : "unknown set");
    return OK;
}

/* oneDNN needs AVX-512 to compute with bf16. Its bit mask of each AVX-512 extension includes the
 * bits of AVX-512, so this one test suffices. */
bool onednn_has_bf16(void)
{
    return (dnnl_get_effective_cpu_isa() & dnnl_cpu_isa_avx512_core) == dnnl_cpu_isa_avx512_core;
}

/* ---- Layouts ---- */

static dnnl_memory_desc_t layout_of(int n_dims, const dnnl_dim_t *dims, dnnl_data_type_t type,
                                    dnnl_format_tag_t tag)
{
    dnnl_memory_desc_t layout;
    dnnl_memory_desc_init_by_tag(&layout, n_dims, dims, type, tag);
    return layout;
}

dnnl_memory_desc_t dnn_any(int n_dims, const dnnl_dim_t *dims, dnnl_data_type_t type)
{
    return layout_of(n_dims, dims, type, dnnl_format_tag_any);
}

dnnl_memory_desc_t dnn_plain(int n_dims, const dnnl_dim_t *dims, dnnl_data_type_t type)
{
    static const dnnl_format_tag_t tags[] = {dnnl_format_tag_undef, dnnl_a, dnnl_ab, dnnl_abc,
                                             dnnl_abcd};
    return layout_of(n_dims, dims, type, tags[n_dims]);
}

dnnl_memory_desc_t dnn_blocked(int n_dims, const dnnl_dim_t *dims)
{
    return layout_of(n_dims, dims, dnnl_f32, n_dims == 2 ? dnnl_AB16b16a : dnnl_ABcd16b16a);
}

bool dnn_is_plain(const dnnl_memory_desc_t *layout)
{
    const dnnl_memory_desc_t plain = dnn_plain(layout->ndims, layout->dims, layout->data_type);
    return dnnl_memory_desc_equal(layout, &plain) != 0;
}

enum status dnn_memory(struct dnn *d, dnnl_memory_t *memory, const dnnl_memory_desc_t *layout,
                       void *at, struct error *e)
{
    DNN(dnnl_memory_create(memory, layout, d->engine, at));
    return own(d, (struct dnn_owned){.memory = *memory}, e);
}

const dnnl_memory_desc_t *dnn_layout(dnnl_memory_t memory)
{
    const dnnl_memory_desc_t *layout;
    dnnl_memory_get_memory_desc(memory, &layout);
    return layout;
}

/* ---- Calls ---- */

enum status dnn_add(struct dnn *d, struct dnn_calls *calls, const_dnnl_primitive_desc_t desc,
                    const dnnl_exec_arg_t *arguments, struct error *e)
{
    struct dnn_call *call = &calls->calls[calls->n];
    DNN(dnnl_primitive_create(&call->primitive, desc));
    TRY(own(d, (struct dnn_owned){.primitive = call->primitive}, e));
    for (call->n_arguments = 0; arguments[call->n_arguments].arg != 0; call->n_arguments++)
        call->arguments[call->n_arguments] = arguments[call->n_arguments];
    calls->n++;
    return OK;
}

enum status dnn_add_reorder(struct dnn *d, struct dnn_calls *calls, dnnl_memory_t from,
                            dnnl_memory_t to, struct error *e)
{
    dnnl_primitive_desc_t desc;
    const dnnl_exec_arg_t arguments[] = {{DNNL_ARG_FROM, from}, {DNNL_ARG_TO, to}, {0, NULL}};
    DNN(dnnl_reorder_primitive_desc_create(&desc, dnn_layout(from), d->engine, dnn_layout(to),
                                           d->engine, NULL));
    TRY(own(d, (struct dnn_owned){.desc = desc}, e));
    return dnn_add(d, calls, desc, arguments, e);
}

enum status dnn_convert(struct dnn *d, struct dnn_calls *calls, dnnl_memory_t from,
                        const dnnl_memory_desc_t *layout, dnnl_memory_t *to, struct error *e)
{
    *to = from;
    if (dnnl_memory_desc_equal(dnn_layout(from), layout))
        return OK;
    TRY(dnn_memory(d, to, layout, DNNL_MEMORY_ALLOCATE, e));
    return dnn_add_reorder(d, calls, from, *to, e);
}

void dnn_run(const struct dnn *d, const struct dnn_calls *calls)
{
    for (int i = 0; i < calls->n; i++) {
        const struct dnn_call *call = &calls->calls[i];
        dnnl_status_t status =
            dnnl_primitive_execute(call->primitive, d->stream, call->n_arguments, call->arguments);
        if (status != dnnl_success) {
            fprintf(stderr, "peer_onednn: a primitive of oneDNN failed with status %d\n", status);
            abort();
        }
    }
    dnnl_stream_wait(d->stream);
}

static enum status convert_copy(struct dnn *d, void *at, const dnnl_memory_desc_t *from,
                                const dnnl_memory_desc_t *to, struct error *e)
{
    struct dnn_calls calls = {.n = 0};
    dnnl_memory_t source, result;
    void *converted;
    TRY(dnn_memory(d, &source, from, at, e));
    TRY(dnn_convert(d, &calls, source, to, &result, e));
    dnn_run(d, &calls);
    DNN(dnnl_memory_get_data_handle(result, &converted));
    memmove(at, converted, dnnl_memory_desc_get_size(to));
    return OK;
}

/* Returns a struct dnn that shares engine and stream with `d` and owns no objects yet. */
static struct dnn beside(const struct dnn *d)
{
    return (struct dnn){.engine = d->engine, .stream = d->stream};
}

/* Frees the objects that `d`, a result of beside(), owns. The shared engine and stream stay
 * open. */
static void close_beside(struct dnn *d)
{
    d->engine = NULL;
    d->stream = NULL;
    dnn_close(d);
}

enum status dnn_rearrange(struct dnn *d, void *at, const dnnl_memory_desc_t *from,
                          const dnnl_memory_desc_t *to, struct error *e)
{
    struct dnn own_list = beside(d);
    enum status status = convert_copy(&own_list, at, from, to, e);
    close_beside(&own_list);
    return status;
}

/* ---- Descriptions of primitives ---- */

enum status dnn_describe(struct dnn *d, dnnl_primitive_desc_t *desc, bool *made,
                         const_dnnl_op_desc_t op, const_dnnl_primitive_attr_t attributes,
                         const_dnnl_primitive_desc_t hint, struct error *e)
{
    dnnl_status_t status = dnnl_primitive_desc_create(desc, op, attributes, d->engine, hint);
    *made = status == dnnl_success;
    if (status == dnnl_unimplemented)
        return OK;
    TRY(dnn_status(status, "dnnl_primitive_desc_create", e));
    return own(d, (struct dnn_owned){.desc = *desc}, e);
}

const dnnl_memory_desc_t *dnn_query(const_dnnl_primitive_desc_t desc, dnnl_query_t what)
{
    return dnnl_primitive_desc_query_md(desc, what, 0);
}

bool dnn_is_reference(const_dnnl_primitive_desc_t desc)
{
    const char *name = "";
    dnnl_primitive_desc_query(desc, dnnl_query_impl_info_str, 0, &name);
    return strncmp(name, "ref", 3) == 0;
}

static enum status make_zeros(struct dnn *d, dnnl_memory_t *memory,
                              const dnnl_memory_desc_t *layout, struct error *e)
{
    void *at;
    TRY(dnn_memory(d, memory, layout, DNNL_MEMORY_ALLOCATE, e));
    DNN(dnnl_memory_get_data_handle(*memory, &at));
    memset(at, 0, dnnl_memory_desc_get_size(layout));
    return OK;
}

static enum status prepare_trial(struct dnn *d, struct dnn_calls *calls,
                                 const_dnnl_primitive_desc_t desc, const struct dnn_role *roles,
                                 struct error *e)
{
    dnnl_exec_arg_t arguments[8];
    int n = 0;
    for (; roles->argument != 0; roles++) {
        const dnnl_memory_desc_t *layout =
            dnnl_primitive_desc_query_md(desc, roles->layout, roles->index);
        if (layout == NULL || dnnl_memory_desc_get_size(layout) == 0)
            continue;
        arguments[n].arg = roles->argument;
        TRY(make_zeros(d, &arguments[n++].memory, layout, e));
    }
    arguments[n].arg = 0;
    return dnn_add(d, calls, desc, arguments, e);
}

static double shortest_of(const struct dnn *d, const struct dnn_calls *calls)
{
    double least = INFINITY;
    for (int i = -1; i < TRIALS; i++) {
        int64_t begin_ns = clock_ns();
        dnn_run(d, calls);
        least = i < 0 ? least : fmin(least, clock_seconds_since(begin_ns));
    }
    return least;
}

enum status dnn_time(const struct dnn *d, const_dnnl_primitive_desc_t desc,
                     const struct dnn_role *roles, double *seconds, struct error *e)
{
    struct dnn trial = beside(d);
    struct dnn_calls calls = {.n = 0};
    enum status status = prepare_trial(&trial, &calls, desc, roles, e);
    if (status == OK)
        *seconds += shortest_of(d, &calls);
    close_beside(&trial);
    return status;
}

static enum status prepare_conversion(struct dnn *d, struct dnn_calls *calls,
                                      const dnnl_memory_desc_t *from, const dnnl_memory_desc_t *to,
                                      struct error *e)
{
    dnnl_memory_t source, result;
    TRY(make_zeros(d, &source, from, e));
    return dnn_convert(d, calls, source, to, &result, e);
}

enum status dnn_time_conversion(const struct dnn *d, const dnnl_memory_desc_t *from,
                                const dnnl_memory_desc_t *to, double *seconds, struct error *e)
{
    struct dnn trial = beside(d);
    struct dnn_calls calls = {.n = 0};
    enum status status =
        dnnl_memory_desc_equal(from, to) ? OK : prepare_conversion(&trial, &calls, from, to, e);
    if (status == OK && calls.n > 0)
        *seconds += shortest_of(d, &calls);
    close_beside(&trial);
    return status;
}
