/* Tests of opening files for reading. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "bench/base/file.h"

/* Opening a FIFO without a writer must not block. */
static void only_regular_files_are_opened(void **state)
{
    char folder[] = "/tmp/test_base.XXXXXX", fifo[64];
    const char *why = "";
    assert_non_null(mkdtemp(folder));
    snprintf(fifo, sizeof fifo, "%s/fifo", folder);
    assert_int_equal(mkfifo(fifo, 0600), 0);
    assert_int_equal(file_open(fifo, &why), -1);
    assert_string_equal(why, "expected a regular file, found a FIFO");
    assert_int_equal(errno, 0);
    assert_int_equal(file_open(folder, &why), -1);
    assert_string_equal(why, "expected a regular file, found a folder");
    assert_null(file_open_stream("/dev/zero", &why));
    assert_string_equal(why, "expected a regular file, found a device");
    assert_null(file_open_stream("/dev/none/such", &why));
    assert_string_equal(why, "No such file or directory");
    assert_int_equal(errno, ENOENT);
    FILE *pipe = file_open_pipe(fifo, &why);
    assert_non_null(pipe);
    assert_int_equal(fgetc(pipe), EOF);
    fclose(pipe);
    unlink(fifo);
    rmdir(folder);
    FILE *self = file_open_stream("/proc/self/exe", &why);
    assert_non_null(self);
    assert_int_equal(fgetc(self), 0x7f);
    fclose(self);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(only_regular_files_are_opened),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
