/* One step on four devices, from C. */
#include <stdio.h>

#include "data_parallel.h"

int main(void) {
  char error[HLOKIT_ERROR_SIZE];
  int failed;
  data_parallel_run* run = data_parallel_create(NULL, error, sizeof(error));
  if (run == NULL) {
    fprintf(stderr, "%s\n", error);
    return 1;
  }
  /* Each partition predicts 1 for every row, and 3 is wanted. */
  for (int64_t device = 0; device < data_parallel_device_count; ++device)
    for (int row = 0; row < 4; ++row) {
      data_parallel_weights(run, device)[0] = 1;
      data_parallel_batch(run, device)[3 * row] = 1;
      data_parallel_wanted(run, device)[row] = 3;
    }
  failed = data_parallel_execute(run);
  if (failed) fprintf(stderr, "%s\n", data_parallel_error(run));
  for (int64_t device = 0; device < data_parallel_device_count && !failed; ++device) {
    printf("device %d: error %g, weight %g\n", (int)device,
           data_parallel_output_1(run, device)[0], data_parallel_output_0(run, device)[0]);
    failed = data_parallel_output_1(run, device)[0] != -1;
  }
  data_parallel_destroy(run);
  return failed;
}
/* SPDX-License-Identifier: Apache-2.0 */
