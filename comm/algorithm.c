#include "comm/algorithm.h"

#include <ctype.h>
#include <mpi.h>
#include <stdbool.h>
#include <string.h>

enum variable { BLOCKING, NONBLOCKING, DEVICE, VARIABLES };

/* DEVICE is set to "none": otherwise MPICH's device layer may override the other two variables
 * (MPIR_CVAR_DEVICE_COLLECTIVES). */
static const char *const CVARS[VARIABLES] = {
    [BLOCKING] = "MPIR_CVAR_ALLREDUCE_INTRA_ALGORITHM",
    [NONBLOCKING] = "MPIR_CVAR_IALLREDUCE_INTRA_ALGORITHM",
    [DEVICE] = "MPIR_CVAR_DEVICE_COLLECTIVES",
};

static const char *const VALUES[ALGORITHMS][VARIABLES] = {
#define ALGORITHM(name, blocking, nonblocking, summary)                                            \
    [ALGORITHM_##name] = {blocking, nonblocking, "none"},
#include "comm/cost/algorithms.def"
};

/* ---- Descriptions ---- */

static bool is_word(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}

/* Returns whether the text before `end` ends with `name`. A blank before the name is not required,
 * but an underscore is rejected: "tsp_ring" does not match "ring". */
static bool ends_with(const char *text, const char *end, const char *name)
{
    size_t length = strlen(name);
    if ((size_t)(end - text) < length || strncmp(end - length, name, length) != 0)
        return false;
    return end - length == text || end[-(ptrdiff_t)length - 1] != '_';
}

int algorithm_number(const char *description, const char *name)
{
    int number = 0;
    for (const char *dash = description; (dash = strstr(dash, " - ")) != NULL; dash += 3) {
        const char *end = dash;
        while (end > description && end[-1] == ' ')
            end--;
        if (end == description || !is_word(end[-1]))
            continue;
        if (ends_with(description, end, name))
            return number;
        number++;
    }
    return -1;
}

/* ---- Variables ---- */

/* Opens MPI_T and never closes it: the last MPI_T_finalize makes MPICH 4.0 lose its variables, even
 * while MPI runs. */
static enum status open_tools(struct error *e)
{
    int level, code = MPI_T_init_thread(MPI_THREAD_SINGLE, &level);
    return code == MPI_SUCCESS
               ? OK
               : error_set(e, ERR_MPI, "MPI_T_init_thread failed with error %d", code);
}

static enum status find_variable(enum variable v, int *index, struct error *e)
{
    if (MPI_T_cvar_get_index(CVARS[v], index) == MPI_SUCCESS)
        return OK;
    return error_set(e, ERR_UNAVAILABLE,
                     "sync.algorithm: variable %s not found in this MPI library. Use MPICH 4.0 or "
                     "later, or sync.algorithm: auto",
                     CVARS[v]);
}

enum access { READ, WRITE };

static enum status access_variable(enum variable v, enum access access, int *value, struct error *e)
{
    int index, count, code;
    MPI_T_cvar_handle handle;
    TRY(find_variable(v, &index, e));
    code = MPI_T_cvar_handle_alloc(index, NULL, &handle, &count);
    if (code == MPI_SUCCESS) {
        code = access == READ ? MPI_T_cvar_read(handle, value) : MPI_T_cvar_write(handle, value);
        MPI_T_cvar_handle_free(&handle);
    }
    return code == MPI_SUCCESS
               ? OK
               : error_set(e, ERR_MPI,
                           "cannot read or set the variable %s of the MPI library: error %d",
                           CVARS[v], code);
}

static enum status find_value(enum variable v, const char *name, int *value, struct error *e)
{
    char cvar[128], description[4096] = "";
    int cvar_length = sizeof cvar, length = sizeof description, index, verbosity, binding, scope;
    MPI_Datatype type;
    MPI_T_enum values;
    TRY(find_variable(v, &index, e));
    MPI_T_cvar_get_info(index, cvar, &cvar_length, &verbosity, &type, &values, description, &length,
                        &binding, &scope);
    *value = algorithm_number(description, name);
    if (*value >= 0)
        return OK;
    return error_set(e, ERR_UNAVAILABLE,
                     "sync.algorithm: '%s' not found in the description of variable %s of this MPI "
                     "library: %.600s",
                     name, CVARS[v], description);
}

/* ---- Settings ---- */

static enum status find_settings(enum allreduce_algorithm algorithm,
                                 struct algorithm_settings *settings, struct error *e)
{
    int *const numbers[VARIABLES] = {&settings->blocking, &settings->nonblocking,
                                     &settings->device};
    for (int v = 0; v < VARIABLES; v++)
        TRY(find_value((enum variable)v, VALUES[algorithm][v], numbers[v], e));
    return OK;
}

static enum status access_all(struct algorithm_settings *settings, enum access access,
                              struct error *e)
{
    int *const numbers[VARIABLES] = {&settings->blocking, &settings->nonblocking,
                                     &settings->device};
    TRY(open_tools(e));
    for (int v = 0; v < VARIABLES; v++)
        TRY(access_variable((enum variable)v, access, numbers[v], e));
    return OK;
}

enum status algorithm_read(struct algorithm_settings *settings, struct error *e)
{
    return access_all(settings, READ, e);
}

enum status algorithm_write(const struct algorithm_settings *settings, struct error *e)
{
    struct algorithm_settings copy = *settings;
    return access_all(&copy, WRITE, e);
}

enum status algorithm_use(enum allreduce_algorithm algorithm, struct error *e)
{
    struct algorithm_settings settings;
    if (algorithm == ALGORITHM_auto)
        return OK;
    TRY(open_tools(e));
    TRY(find_settings(algorithm, &settings, e));
    return algorithm_write(&settings, e);
}

const char *algorithm_in_use(void)
{
    struct algorithm_settings now, named;
    struct error ignored;
    if (algorithm_read(&now, &ignored) != OK)
        return "auto";
    const char *name = now.blocking == 0 && now.nonblocking == 0 ? "auto" : "other";
    for (int a = 1; a < ALGORITHMS; a++)
        if (find_settings((enum allreduce_algorithm)a, &named, &ignored) == OK &&
            named.device == now.device && named.blocking == now.blocking &&
            named.nonblocking == now.nonblocking)
            name = algorithm_names()[a];
    return name;
}
