/* train_cnn: trains a network on p MPI processes and records the times and messages of the
 * steps. */
#include "bench/workloads/train_cnn/train_main.h"

int main(int argc, char **argv)
{
    return train_main(argc, argv, &(struct train_program){.name = "train_cnn"});
}
