/* oneDNN primitives with their memory: one engine, one stream, and lists of calls. Everything that
 * a `struct dnn` has made is freed by dnn_close. */
#pragma once

#include <oneapi/dnnl/dnnl.h>
#include <stdbool.h>

#include "kernels/base/error.h"

struct dnn {
    dnnl_engine_t engine;
    dnnl_stream_t stream;
    struct dnn_owned {
        dnnl_primitive_t primitive; /* one of the three is set */
        dnnl_primitive_desc_t desc;
        dnnl_memory_t memory;
    } * owned;
    size_t n_owned;
};

/* Returns OK, or ERR_UNAVAILABLE with the name of the call and oneDNN's status. */
enum status dnn_status(dnnl_status_t status, const char *call, struct error *e);
#define DNN(call) TRY(dnn_status((call), #call, e))

/* Uses `threads` threads. Call dnn_close in any case. */
enum status dnn_open(struct dnn *d, int threads, struct error *e);
void dnn_close(struct dnn *d);

/* ---- Layouts ---- */

/* Returns a layout that oneDNN chooses. */
dnnl_memory_desc_t dnn_any(int n_dims, const dnnl_dim_t *dims, dnnl_data_type_t type);
/* Returns the row-major layout. */
dnnl_memory_desc_t dnn_plain(int n_dims, const dnnl_dim_t *dims, dnnl_data_type_t type);
bool dnn_is_plain(const dnnl_memory_desc_t *layout);

/* Makes memory of this layout. `at`: its place, DNNL_MEMORY_NONE (set later by
 * dnnl_memory_set_data_handle) or DNNL_MEMORY_ALLOCATE. */
enum status dnn_memory(struct dnn *d, dnnl_memory_t *memory, const dnnl_memory_desc_t *layout,
                       void *at, struct error *e);
/* Returns the layout of memory. */
const dnnl_memory_desc_t *dnn_layout(dnnl_memory_t memory);

/* ---- Calls ---- */

/* One call of a primitive. */
struct dnn_call {
    dnnl_primitive_t primitive;
    int n_arguments;
    dnnl_exec_arg_t arguments[8];
};

#define DNN_CALLS_MAX 8
struct dnn_calls {
    int n;
    struct dnn_call calls[DNN_CALLS_MAX];
};

/* Makes the primitive of `desc` and appends its call with the arguments, which end with arg 0. */
enum status dnn_add(struct dnn *d, struct dnn_calls *calls, const_dnnl_primitive_desc_t desc,
                    const dnnl_exec_arg_t *arguments, struct error *e);

/* Appends the conversion of `from` to `layout` if the layouts differ. *to: the result in new
 * memory, or `from`. */
enum status dnn_convert(struct dnn *d, struct dnn_calls *calls, dnnl_memory_t from,
                        const dnnl_memory_desc_t *layout, dnnl_memory_t *to, struct error *e);

/* Appends the conversion of `from` into `to`. */
enum status dnn_add_reorder(struct dnn *d, struct dnn_calls *calls, dnnl_memory_t from,
                            dnnl_memory_t to, struct error *e);

/* Executes the calls in order and waits for the last one. Shapes were checked when the calls were
 * made; a failure ends the program. */
void dnn_run(const struct dnn *d, const struct dnn_calls *calls);

/* Rearranges numbers in place from one layout to another of the same size. */
enum status dnn_rearrange(struct dnn *d, void *at, const dnnl_memory_desc_t *from,
                          const dnnl_memory_desc_t *to, struct error *e);

/* ---- Descriptions of primitives ---- */

/* Makes the description that `d` owns; hint and attributes may be NULL. `made` is false if oneDNN
 * has no implementation. */
enum status dnn_describe(struct dnn *d, dnnl_primitive_desc_t *desc, bool *made,
                         const_dnnl_op_desc_t op, const_dnnl_primitive_attr_t attributes,
                         const_dnnl_primitive_desc_t hint, struct error *e);

/* Returns a layout of the description's arguments: dnnl_query_src_md and the like. */
const dnnl_memory_desc_t *dnn_query(const_dnnl_primitive_desc_t desc, dnnl_query_t what);

/* Returns whether the implementation is oneDNN's reference, which is orders of magnitude slower. */
bool dnn_is_reference(const_dnnl_primitive_desc_t desc);

/* Layouts that a primitive's arguments have. */
struct dnn_role {
    int argument; /* DNNL_ARG_SRC and the like; 0 ends a list */
    dnnl_query_t layout;
    int index; /* 0, or 1 for a bias; oneDNN counts it among the weights */
};

/* Adds to *seconds the shortest of a few executions on zeros. */
enum status dnn_time(const struct dnn *d, const_dnnl_primitive_desc_t desc,
                     const struct dnn_role *roles, double *seconds, struct error *e);
/* Adds to *seconds the shortest of a few conversions; 0 between equal layouts. */
enum status dnn_time_conversion(const struct dnn *d, const dnnl_memory_desc_t *from,
                                const dnnl_memory_desc_t *to, double *seconds, struct error *e);
