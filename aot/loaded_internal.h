// Programs compiled ahead of time and loaded into a test.
#pragma once

#include <dlfcn.h>

#include <filesystem>
#include <string>

#include "aot/package.h"
#include "gtest/gtest.h"
#include "parser/parser.h"
#include "runtime/aot.h"
#include "support/file.h"
#include "support/scratch_folder.h"
#include "support/status.h"

namespace hlokit {

inline absl::StatusOr<AotObject> Compile(absl::string_view text, AotOptions options = {}) {
  ASSIGN_OR_RETURN(std::unique_ptr<Module> module, ParseModule(text));
  if (options.name.empty()) options.name = "model";
  return CompileAhead(std::move(module), options);
}

// The object in this process, linked as a shared library.
class Loaded {
 public:
  // `linker`: a program that links as a C++ compiler does; the compiler itself where it is empty.
  explicit Loaded(const AotObject& object, const std::string& linker = "") {
    PackageOptions options;
    options.linker = linker;
    options.format = AotFormat::kShared;
    options.path = folder_.path() + "/model.so";
    options.name = "model";
    options.runtime = std::filesystem::read_symlink("/proc/self/exe").parent_path().parent_path() /
                      "lib/libhlokit_runtime.a";
    const absl::Status written = WritePackage(object, options);
    EXPECT_TRUE(written.ok()) << written;
    library_ = dlopen(options.path.c_str(), RTLD_NOW | RTLD_LOCAL);
    EXPECT_NE(library_, nullptr) << dlerror();
    EXPECT_TRUE(AtomicWriteFile(weights_path(), object.weights).ok());
  }
  ~Loaded() { dlclose(library_); }
  const HlokitAotModel* model() const {
    return static_cast<const HlokitAotModel*>(dlsym(library_, "model_model"));
  }
  // A function of the library.
  template <typename Function>
  Function* Find(const char* name) const {
    return reinterpret_cast<Function*>(dlsym(library_, name));
  }
  std::string weights_path() const { return folder_.path() + "/weights"; }

 private:
  ScratchFolder folder_;
  void* library_;
};

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
