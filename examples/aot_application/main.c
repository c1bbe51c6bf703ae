// Runs a model that was compiled ahead of time, from C.
#include <stdio.h>

#include "axpy.h"

void first_elements(void* out, const void** in) {
  ((float*)out)[0] = ((const float*)in[0])[0];
  ((float*)out)[1] = ((const float*)in[1])[0];
}

int main(void) {
  char error[HLOKIT_ERROR_SIZE];
  axpy_run* run = axpy_create(NULL, error, sizeof(error));
  if (run == NULL) {
    fprintf(stderr, "%s\n", error);
    return 1;
  }
  *axpy_a(run) = 3;
  for (int i = 0; i < 1000; ++i) {
    axpy_x(run)[i] = (float)i;
    axpy_y(run)[i] = 1;
  }
  int failed = axpy_execute(run);
  if (failed) fprintf(stderr, "%s\n", axpy_error(run));
  if (!failed) {
    printf("%g\n", axpy_output_0(run)[10]);
    failed = axpy_output_0(run)[10] != 31;
  }
  axpy_destroy(run);
  return failed;
}
// SPDX-License-Identifier: Apache-2.0
