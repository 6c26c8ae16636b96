/* Wraps an engine, a stream, primitives and memory objects of oneDNN. A `struct dnn` owns all
 * objects that are made with it, and dnn_close frees them. */
#pragma once

#include <oneapi/dnnl/dnnl.h>
#include <stdbool.h>

#include "kernels/base/error.h"

struct dnn {
    dnnl_engine_t engine;
    dnnl_stream_t stream;
    struct dnn_owned {
        dnnl_primitive_t primitive; /* one of `primitive`, `desc` and `memory` is set */
        dnnl_primitive_desc_t desc;
        dnnl_memory_t memory;
    } * owned;
    size_t n_owned;
};

/* Returns OK, ERR_MEMORY or, for any other failure, ERR_UNAVAILABLE. The error text names the
 * oneDNN function and its status. */
enum status dnn_status(dnnl_status_t status, const char *call, struct error *e);
#define DNN(call) TRY(dnn_status((call), #call, e))

/* Opens an engine and a stream that use `threads` threads. Call dnn_close even if dnn_open
 * fails. */
enum status dnn_open(struct dnn *d, int threads, struct error *e);
void dnn_close(struct dnn *d);

/* ---- Layouts ---- */

/* Returns a layout description that lets oneDNN choose the layout. */
dnnl_memory_desc_t dnn_any(int n_dims, const dnnl_dim_t *dims, dnnl_data_type_t type);
/* Returns the row-major layout for these dimensions and this type. */
dnnl_memory_desc_t dnn_plain(int n_dims, const dnnl_dim_t *dims, dnnl_data_type_t type);
/* Returns the layout of weights [O,I] or [O,I,H,W] in blocks of 16 inputs x 16 outputs, fp32. */
dnnl_memory_desc_t dnn_blocked(int n_dims, const dnnl_dim_t *dims);
bool dnn_is_plain(const dnnl_memory_desc_t *layout);

/* Makes a memory object with this layout. `at` is the address of its data, DNNL_MEMORY_NONE
 * (address set later by dnnl_memory_set_data_handle) or DNNL_MEMORY_ALLOCATE. */
enum status dnn_memory(struct dnn *d, dnnl_memory_t *memory, const dnnl_memory_desc_t *layout,
                       void *at, struct error *e);
/* Returns the layout of a memory object. */
const dnnl_memory_desc_t *dnn_layout(dnnl_memory_t memory);

/* ---- Calls ---- */

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

/* Makes the primitive of `desc` and appends its call. `arguments` ends with an element whose arg is
 * 0. */
enum status dnn_add(struct dnn *d, struct dnn_calls *calls, const_dnnl_primitive_desc_t desc,
                    const dnnl_exec_arg_t *arguments, struct error *e);

/* If `from` has another layout than `layout`, appends a conversion and sets *to to new memory for
 * the result. Otherwise appends nothing and sets *to to `from`. */
enum status dnn_convert(struct dnn *d, struct dnn_calls *calls, dnnl_memory_t from,
                        const dnnl_memory_desc_t *layout, dnnl_memory_t *to, struct error *e);

/* Appends a conversion of `from` to the layout of `to`, with the result in `to`. */
enum status dnn_add_reorder(struct dnn *d, struct dnn_calls *calls, dnnl_memory_t from,
                            dnnl_memory_t to, struct error *e);

/* Executes the calls in order and waits for the last one. Shapes were checked when the calls were
 * made. A failure ends the process. */
void dnn_run(const struct dnn *d, const struct dnn_calls *calls);

/* Rearranges numbers in place from one layout to another of the same size in bytes. */
enum status dnn_rearrange(struct dnn *d, void *at, const dnnl_memory_desc_t *from,
                          const dnnl_memory_desc_t *to, struct error *e);

/* ---- Descriptions of primitives ---- */

/* Makes a primitive description, which `d` owns; `hint` and `attributes` may be NULL. *made is
 * false if oneDNN has no implementation. */
enum status dnn_describe(struct dnn *d, dnnl_primitive_desc_t *desc, bool *made,
                         const_dnnl_op_desc_t op, const_dnnl_primitive_attr_t attributes,
                         const_dnnl_primitive_desc_t hint, struct error *e);

/* Returns the layout of one argument of a primitive; `what` names the argument, such as
 * dnnl_query_src_md. */
const dnnl_memory_desc_t *dnn_query(const_dnnl_primitive_desc_t desc, dnnl_query_t what);

/* Returns whether `desc` is oneDNN's reference implementation, which is orders of magnitude slower
 * than optimised ones. */
bool dnn_is_reference(const_dnnl_primitive_desc_t desc);

/* An argument of a primitive, and the query for the argument's layout. */
struct dnn_role {
    int argument; /* oneDNN's number of the argument, such as DNNL_ARG_SRC; 0 ends a list */
    dnnl_query_t layout;
    int index; /* index for the query: 1 for a bias (oneDNN's second weights), otherwise 0 */
};

/* Executes a primitive a few times on zeros and adds the shortest time to *seconds. */
enum status dnn_time(const struct dnn *d, const_dnnl_primitive_desc_t desc,
                     const struct dnn_role *roles, double *seconds, struct error *e);
/* Converts zeros between two layouts a few times and adds the shortest time to *seconds; adds 0 if
 * the layouts are equal. */
enum status dnn_time_conversion(const struct dnn *d, const dnnl_memory_desc_t *from,
                                const dnnl_memory_desc_t *to, double *seconds, struct error *e);
