/* The class that the net gives each test image, as a text file with a line an image. */
#pragma once

#include "bench/workloads/train_cnn/trainer.h"

/* Makes the trainer keep the classes that its evaluations of the test part give. Freed with
 * predictions_close. */
enum status predictions_open(struct trainer *t, struct error *e);
void predictions_close(struct trainer *t);

/* Writes those of the last evaluation. Collective; rank 0 writes. */
enum status predictions_write(struct trainer *t, const char *path, struct error *e);
