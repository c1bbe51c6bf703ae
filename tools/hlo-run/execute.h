// One module on one platform: compiled, run and timed.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "client/client.h"
#include "tools/hlo-run/options.h"
#include "types/compare.h"

namespace hlokit {

struct Execution {
  CompileStats stats;
  PackedCounts packed;           // after the runs
  std::vector<double> seconds;   // of each timed run
  std::vector<Literal> results;  // one a device; empty after --compile-only
  std::string profile;           // as text, table or trace; empty unless asked for
  double min_seconds() const;
  double median_seconds() const;
};

// What the flags say of compiling, for the platform or for the reference.
CompileOptions CompileOptionsOf(const RunOptions& options, bool reference);
// What they allow two results to be apart.
CompareOptions CompareOptionsOf(const RunOptions& options);

// Of --sanitize: what one run finds whose code has checks, then, where that finds nothing, what one
// finds that has them after LLVM's passes. Each status has the place of its instruction.
absl::StatusOr<std::vector<absl::Status>> Sanitize(Client& client, const Module& module,
                                                   absl::Span<const DeviceArguments> arguments,
                                                   const RunOptions& options,
                                                   const HostQueues& host);

// The devices that run a program, where not all of them are in this process.
struct RunDevices {
  std::optional<DeviceAssignment> devices;
  CommunicatorFactory communicators;
  // What the first process answers, for all: whether to run once more. Null: this process decides.
  std::function<absl::StatusOr<bool>(bool)> agree;
};

// `timed` false: one run, without warm-up (the reference platform). `given`: the arguments of one
// device again, which the program may keep; else empty.
absl::StatusOr<Execution> Execute(Client& client, std::unique_ptr<Module> module,
                                  absl::Span<const DeviceArguments> arguments,
                                  const RunOptions& options, const HostQueues& host, bool timed,
                                  absl::Span<Literal* const> given = {},
                                  const RunDevices& devices = {});

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
