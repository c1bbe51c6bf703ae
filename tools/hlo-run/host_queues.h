// The host's side of infeed and outfeed: items from files or made at random, items written to
// files.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "backends/backend.h"
#include "tools/hlo-run/options.h"
#include "types/npz.h"

namespace hlokit {

// One for each run of a platform. Every device gets the same items from the first on, after the
// last one the first again.
class HostFeeds {
 public:
  // Opens --infeed's files. Errors: NotFound, InvalidArgument for a name that tells no format.
  static absl::StatusOr<std::unique_ptr<HostFeeds>> Open(const RunOptions& options);

  HostQueues Queues();
  // What came out, by device and in order, as item0, item0.1 (of a tuple), item1.d2 (of device 2).
  absl::Status Write(const std::string& path, int64_t devices) const;
  std::string Describe(int64_t devices) const;

 private:
  explicit HostFeeds(const RunOptions& options) : options_(options) {}
  absl::StatusOr<Literal> Next(int64_t device, const Shape& shape);
  absl::StatusOr<Literal> FromFiles(int64_t number, const Shape& shape) const;
  Literal Random(int64_t number, int64_t device, const Shape& shape) const;

  const RunOptions& options_;
  std::vector<NpzFile> archives_;
  std::vector<std::string> texts_;  // a literal each
  int64_t archive_items_ = 0;
  std::mutex mutex_;
  std::map<int64_t, int64_t> taken_;                // by device
  std::map<int64_t, std::vector<Literal>> outfed_;  // by device
};

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
