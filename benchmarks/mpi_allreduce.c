// SPDX-License-Identifier: Apache-2.0
// MPI_Allreduce alone, as OSU's osu_allreduce times it: rounds of calls after a warm-up, f32 sums.
//   mpi_allreduce BYTES CALLS  -> rank 0 prints the median microseconds of a call
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static int Order(const void* a, const void* b) {
  const double x = *(const double*)a, y = *(const double*)b;
  return (x > y) - (x < y);
}

int main(int argc, char** argv) {
  int rank = 0, provided = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const int count = argc > 1 ? atoi(argv[1]) / 4 : 1024;
  const int calls = argc > 2 ? atoi(argv[2]) : 100;
  float* const from = malloc(sizeof(float) * (size_t)count);
  float* const to = malloc(sizeof(float) * (size_t)count);
  double* const seconds = malloc(sizeof(double) * (size_t)calls);
  for (int i = 0; i < count; ++i) from[i] = 1;
  for (int k = -calls / 10 - 1; k < calls; ++k) {
    MPI_Barrier(MPI_COMM_WORLD);
    const double begin = MPI_Wtime();
    MPI_Allreduce(from, to, count, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
    if (k >= 0) seconds[k] = MPI_Wtime() - begin;
  }
  qsort(seconds, (size_t)calls, sizeof(double), Order);
  if (rank == 0) printf("%.3f\n", 1e6 * seconds[calls / 2]);
  MPI_Finalize();
  return 0;
}
