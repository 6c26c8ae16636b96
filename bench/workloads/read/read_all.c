/* Reading mode `all`: every rank has all training data. Images are read in random order, and
 * address translation of small pages cost 1.5 % of lenet_21k's step. Small data sets are therefore
 * copied to huge pages. Copies are read from the file, since pages of its mapping would count as
 * memory of this process. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "bench/workloads/read/modes.h"
#include "kernels/base/mem.h"

/* every rank copies the images if their total size is at most this number of bytes */
#define COPIED_MAX ((size_t)64 << 20)

static enum status read_bytes(int fd, const struct data_place *from, uint8_t *to, size_t n,
                              struct error *e)
{
    for (size_t done = 0; done < n;) {
        ssize_t got = pread(fd, to + done, n - done, (off_t)(from->offset + done));
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return error_at(e, ERR_DATA, from->path, 0, 0, "byte %zu: cannot be read: %s",
                            (size_t)from->offset + done,
                            got < 0 ? strerror(errno) : "the file has become shorter");
        done += (size_t)got;
    }
    return OK;
}

static enum status read_file(const struct data_place *from, uint8_t *to, size_t n, struct error *e)
{
    int fd = open(from->path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return error_at(e, ERR_DATA, from->path, 0, 0, "cannot be opened: %s", strerror(errno));
    enum status status = read_bytes(fd, from, to, n, e);
    close(fd);
    return status;
}

static enum status copy_images(struct reader *r, struct error *e)
{
    size_t bytes = r->n * r->image_bytes;
    TRY(MEM_NEW_ALIGNED(r->store.images, bytes, "a copy of the images", e));
    r->store.room = r->n;
    r->data.train.images = r->store.images;
    return read_file(&r->data.train_images, r->store.images, bytes, e);
}

/* Copies the images to huge pages if they are small enough and in a file; otherwise loads the pages
 * of their mapping. */
static enum status open_all(struct reader *r, struct error *e)
{
    bool copies = r->data.train_images.path[0] != '\0' && r->n * r->image_bytes <= COPIED_MAX;
    enum status status = copies ? copy_images(r, e) : OK;
    /* loads the labels, and the images unless they are copied */
    data_load(&r->source, copies ? 0 : r->image_bytes);
    return reader_agree(r, status, e);
}

const struct read_mode read_all = {.name = "all", .open = open_all};
