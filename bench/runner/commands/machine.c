/* `scalebench machine`: prints this machine's hardware class, its number of usable cores and the
 * SHA-256 of each FILE operand. A campaign runs this command on machines reached by ssh, to check
 * that they have the same programs. Exit status 1: a FILE is not found. */
#include <sha2.h>

#include "bench/place/hardware.h"
#include "bench/runner/commands/commands.h"

static enum status print_program(FILE *out, const struct tools *tools, const char *path,
                                 int *exit_status, struct error *e)
{
    char file[PATH_BYTES], hex[SHA256_DIGEST_STRING_LENGTH];
    TRY(tools_contents(tools, path, file, e));
    bool found = SHA256File(file, hex) != NULL;
    if (!found)
        *exit_status = 1;
    fprintf(out, "program %s %s%s\n", found ? hex : "-", path, found ? "" : " (not found)");
    return OK;
}

enum status command_machine(const struct arguments *a, FILE *out, int *exit_status, struct error *e)
{
    char class[HARDWARE_CLASS_BYTES];
    struct place *place;
    TRY(place_open(&place, NULL, e));
    struct place_machine machine = place_machine(place);
    place_close(place);
    hardware_class(class, &machine);
    fprintf(out, "machine %s\ncores %d\n", class, machine.usable_cores);
    for (size_t i = 0; i < a->n_operands; i++)
        TRY(print_program(out, a->tools, a->operands[i], exit_status, e));
    return OK;
}
