// Trains a linear model on four devices, which a program compiled ahead of time brings along.
#include <cmath>
#include <cstdio>

#include "data_parallel.h"

namespace {

constexpr float kTruth[data_parallel::kPartitionCount][3] = {{1, -2, 0.5F}, {3, 0, -1}};

// Batch `replica`, of which partition p sees columns 3 p to 3 p + 2.
float Feature(int replica, int row, int partition, int column) {
  return (4 * replica + row) % 6 == 3 * partition + column ? 1.0F : 0.0F;
}

void Fill(data_parallel& model, int replica, int partition) {
  const int device = replica * data_parallel::kPartitionCount + partition;
  for (int row = 0; row < 4; ++row) {
    float wanted = 0;
    for (int p = 0; p < data_parallel::kPartitionCount; ++p)
      for (int c = 0; c < 3; ++c) wanted += kTruth[p][c] * Feature(replica, row, p, c);
    model.wanted(device)[static_cast<size_t>(row)] = wanted;
    for (int c = 0; c < 3; ++c)
      model.batch(device)[static_cast<size_t>(3 * row + c)] = Feature(replica, row, partition, c);
  }
}

}  // namespace

int main() {
  data_parallel model;
  if (!model.ok()) {
    std::fprintf(stderr, "%s\n", model.error().c_str());
    return 1;
  }
  for (int replica = 0; replica < data_parallel::kReplicaCount; ++replica)
    for (int partition = 0; partition < data_parallel::kPartitionCount; ++partition)
      Fill(model, replica, partition);
  for (int step = 0; step < 50; ++step) {
    if (!model.Run()) {
      std::fprintf(stderr, "%s\n", model.error().c_str());
      return 1;
    }
    for (int device = 0; device < data_parallel::kDeviceCount; ++device)
      for (size_t c = 0; c < 3; ++c) model.weights(device)[c] = model.result<0>(device)[c];
  }
  float worst = 0;
  for (int device = 0; device < data_parallel::kDeviceCount; ++device)
    for (size_t c = 0; c < 3; ++c)
      worst = std::fmax(worst, std::fabs(model.weights(device)[c] -
                                         kTruth[device % data_parallel::kPartitionCount][c]));
  std::printf("%d devices, largest difference from the truth: %g\n", data_parallel::kDeviceCount,
              worst);
  return worst < 1e-3F ? 0 : 1;
}
// SPDX-License-Identifier: Apache-2.0
