/* peer_onednn as built without oneDNN. --check reports that oneDNN is missing, so the runner skips
 * the launches of this peer. */
#include "bench/workloads/peers/onednn/version.h"

enum status onednn_name(char *text, size_t size, struct error *e)
{
    (void)text;
    (void)size;
    return error_set(
        e, ERR_UNAVAILABLE,
        "oneDNN was not found when this program was built. Run `make deps-extra`, then `make`");
}

bool onednn_has_bf16(void)
{
    return false;
}
