// A platform as data: its names, what it can do, and how a backend of it is made.
#pragma once

#include <cstdint>
#include <memory>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"

namespace hlokit {

class Backend;

// What a platform can do beyond compiling and running, known before anything is compiled.
struct Capabilities {
  bool donates = false;         // CompileOptions::donate: results over arguments given away
  bool freezes = false;         // CompileOptions::frozen_parameters: packs arguments once
  bool profiles = false;        // CompileOptions::profile: the time of each instruction
  bool sanitizes = false;       // CompileOptions::sanitize: code that checks its accesses
  bool observes = false;        // can show each value of each device as it is made
  bool compiles_ahead = false;  // objects that run without a compiler (aot/)
  // Types below a byte lie packed in device memory; else a byte holds one element.
  bool packs_subbyte = false;
  // The host reads and writes device memory at its address, without a copy.
  bool shares_host_memory = false;
  // Programs read host arrays in place whose address is a multiple of so many bytes; 0: they never
  // do.
  int64_t in_place_alignment = 0;
  bool operator==(const Capabilities&) const = default;
};

struct BackendOptions {
  // Starts getting ready on a thread, for tools that read files before they compile. The backend
  // must then be destroyed before the process ends.
  bool warm_up = false;
};

struct Platform {
  absl::string_view name;                       // such as "cpu"
  absl::Span<const absl::string_view> aliases;  // other names that mean the same
  Capabilities capabilities;
  // How many devices data and feeds may be of. A program makes as many as it wants.
  int64_t device_count = 0;
  // Null: this build lacks the platform.
  std::unique_ptr<Backend> (*make)(const BackendOptions& options) = nullptr;
};

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
