// Objects in the forms that build systems want: an object file, a static or a shared library.
#pragma once

#include <string>

#include "absl/status/status.h"
#include "backends/cpu/aot/aot_object.h"

namespace hlokit {

// An object file, an archive that holds it, or a shared library with the runtime in it.
enum class AotFormat : uint8_t { kObject, kStatic, kShared };

// What WritePackage writes.
struct PackageOptions {
  AotFormat format = AotFormat::kObject;  // kShared needs a linker and the runtime
  std::string path;                       // of what is written
  std::string name;                       // of the program
  std::string linker;   // the C++ compiler that links kShared; empty: $CXX, else c++
  std::string runtime;  // libhlokit_runtime.a, which goes into kShared
};

// Writes the object, alone, as the only member of an archive, or linked with the runtime, whole or
// not at all. Errors: those of files; FailedPrecondition where the linker fails, with what it says.
absl::Status WritePackage(const AotObject& object, const PackageOptions& options);

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
