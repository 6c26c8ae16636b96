/* Errors as values: every function that can fail returns a status and fills an error record with
 * the place (file, line, column where there is one) and a sentence that says what was found and
 * what would be accepted. Nothing below a main() prints or exits. */
#pragma once

#include <stdio.h>

enum status {
    OK = 0,
    ERR_ARGUMENT,    /* a value that no caller should pass, or a bad command line */
    ERR_SPEC,        /* a specification or model file that cannot be accepted */
    ERR_DATA,        /* a data file that is not what it says it is */
    ERR_SHAPE,       /* layers whose shapes do not fit */
    ERR_MEMORY,      /* no memory */
    ERR_SYSTEM,      /* a system call failed; the text carries strerror */
    ERR_MPI,         /* an MPI call failed */
    ERR_TIMEOUT,     /* a deadline passed */
    ERR_UNAVAILABLE, /* the request is fine but this machine cannot serve it */
    ERR_INTERRUPTED, /* SIGINT, SIGTERM or SIGHUP */
};

/* One error. Owned by the caller, filled by the callee only when it returns a status other than
 * OK. `file` is empty and `line`, `column` are 0 where they mean nothing; lines and columns count
 * from 1. */
struct error {
    enum status status;
    char file[512];
    int line, column;
    char text[1024];
};

/* Fills `e` (which may be NULL) and returns `status`, so that `return error_set(...)` reads
 * well. */
enum status error_set(struct error *e, enum status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* The same with a place in a file; NULL and 0 for parts that are not known. Arguments may point
 * into `e`, which is how a caller adds to an error. */
enum status error_at(struct error *e, enum status status, const char *file, int line, int column,
                     const char *format, ...) __attribute__((format(printf, 6, 7)));

/* ERR_MEMORY, "no memory for WHAT": the one sentence for it. */
enum status error_no_memory(struct error *e, const char *what);

/* Passes a failure on: returns from the calling function with the status of a call that failed. Where
 * something must be given back first, an outer function does that and an inner one tries. */
#define TRY(call)                                                                                  \
    do {                                                                                           \
        enum status status_of_call = (call);                                                       \
        if (status_of_call != OK)                                                                  \
            return status_of_call;                                                                 \
    } while (0)

/* The next of several calls, made only where all before it succeeded: for functions that must give
 * something back before they return. */
#define THEN(status, call)                                                                         \
    do {                                                                                           \
        if ((status) == OK)                                                                        \
            (status) = (call);                                                                     \
    } while (0)

/* Writes `file:line:column: text` and a newline; parts that are not set are left out. */
void error_print(FILE *out, const struct error *e);

/* Exit status of a program that ends with this error: 2 for a bad spec, data file or usage, 3 when
 * nothing can run here, 130 when interrupted, 1 otherwise. */
int error_exit_status(const struct error *e);
