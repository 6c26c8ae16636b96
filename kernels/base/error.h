/* Errors as values: a function that can fail returns a status and fills a `struct error`. The
 * error's text names the expected value, the value found and a remedy, as far as they apply. Only
 * these print an error and end the process instead: main() and its helpers, child processes that
 * cannot run their program, the watchdogs of comm/wait, and functions of the oneDNN peer that
 * return no status. */
#pragma once

#include <stdio.h>

enum status {
    OK = 0,
    ERR_ARGUMENT,    /* invalid argument of a function, or wrong command line */
    ERR_SPEC,        /* specification or model file with invalid content */
    ERR_DATA,        /* data file whose content does not match its format */
    ERR_SHAPE,       /* layers whose shapes do not fit together */
    ERR_MEMORY,      /* out of memory */
    ERR_SYSTEM,      /* failed system call, file access or helper program; most messages contain
                        strerror's text */
    ERR_MPI,         /* failed MPI call */
    ERR_TIMEOUT,     /* deadline exceeded */
    ERR_UNAVAILABLE, /* valid request that this machine cannot serve */
    ERR_INTERRUPTED, /* stopped by SIGINT, SIGTERM or SIGHUP */
};

/* One error, owned by the caller. A function fills it only if the function returns a status other
 * than OK. An unknown `file` is "". `line` and `column` count from 1; 0: unknown. */
struct error {
    enum status status;
    char file[512];
    int line, column;
    char text[1024];
};

/* Fills `e`, unless it is NULL, and returns `status`, so that a function can end with `return
 * error_set(...)`. */
enum status error_set(struct error *e, enum status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Works as error_set and also stores a position in a file; NULL or 0: unknown. The arguments of
 * `format` may point into `e`, for example to extend e->text. */
enum status error_at(struct error *e, enum status status, const char *file, int line, int column,
                     const char *format, ...) __attribute__((format(printf, 6, 7)));

/* Sets and returns ERR_MEMORY, with the text "no memory for WHAT". */
enum status error_no_memory(struct error *e, const char *what);

/* Returns from the calling function with the status of a failed call. If something must be freed
 * first, use TRY in an inner function. */
#define TRY(call)                                                                                  \
    do {                                                                                           \
        enum status status_of_call = (call);                                                       \
        if (status_of_call != OK)                                                                  \
            return status_of_call;                                                                 \
    } while (0)

/* Makes the call only if `status` is OK, and stores the status of the call in `status`. Use it in
 * functions that must free something before they return. */
#define THEN(status, call)                                                                         \
    do {                                                                                           \
        if ((status) == OK)                                                                        \
            (status) = (call);                                                                     \
    } while (0)

/* Prints `file:line:column: text` and a newline; omits unknown parts of the position. */
void error_print(FILE *out, const struct error *e);

/* Returns the program's exit status: 2 for a wrong spec, data file or command line, 3 if this
 * machine cannot run the request, 130 if interrupted, 1 otherwise. */
int error_exit_status(const struct error *e);
