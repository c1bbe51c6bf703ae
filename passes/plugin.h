// Passes of one's own: a shared object that hlo-opt, hlo-run and hlo-cost load by
// --load-pass-plugin=FILE.
//
//   absl::StatusOr<bool> Run(hlokit::Computation& computation) { ... true where it changed it ... }
//   std::unique_ptr<hlokit::Pass> Create(hlokit::PassArguments&) {
//     return hlokit::MakeComputationPass("my-pass", Run);
//   }
//   HLOKIT_PASS_PLUGIN("my passes", {"my-pass", "A line for --list-passes.", Create})
//
// Its passes are then passes like any other: --passes, options in braces, --verify-each, --bisect,
// --explain. The object holds nothing of hlokit: it finds hlokit's functions in the program that
// loads it (hlokit_add_pass_plugin() in CMake; examples/pass_plugin).
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "ir/computation.h"
#include "ir/instruction.h"
#include "ir/module.h"
#include "passes/framework/pass.h"
#include "passes/framework/pass_arguments.h"
#include "types/literal.h"

namespace hlokit {

// Raised whenever a plugin built before would be misunderstood.
inline constexpr uint32_t kPassPluginVersion = 2;

// What the headers say of classes that plugins and programs share: a plugin works where it was
// built with the same.
constexpr uint64_t PassPluginLayout() {
  uint64_t layout = kPassPluginVersion;
  for (const size_t fact :
       {sizeof(Module), sizeof(Computation), sizeof(Instruction), sizeof(Shape), sizeof(Literal),
        sizeof(Pass), sizeof(PassArguments), size_t{kOpcodeCount}})
    layout = layout * 1000003 + fact;
  return layout;
}

struct PassPluginRow {
  const char* name;     // as --passes takes it
  const char* summary;  // a line for --list-passes
  std::unique_ptr<Pass> (*make)(PassArguments&);
};

// What a plugin's one function returns. The order of the first two never changes.
struct PassPlugin {
  uint32_t version;
  uint32_t row_count;
  uint64_t layout;
  const char* name;
  const PassPluginRow* rows;
};

// Loads a plugin for the rest of the process and adds its passes. Errors: NotFound where the file
// cannot be loaded, with the linker's words (a symbol that this program lacks, for one);
// InvalidArgument where it is no plugin, was built for another version or with other headers, or a
// name is bad; AlreadyExists where one is taken.
absl::Status LoadPassPlugin(const std::string& path);

// The same for several, up to the first that fails.
absl::Status LoadPassPlugins(absl::Span<const std::string> paths);

}  // namespace hlokit

// The one symbol of a plugin. Rows follow the plugin's name.
#define HLOKIT_PASS_PLUGIN(plugin_name, ...)                                                  \
  extern "C" __attribute__((visibility("default"))) const hlokit::PassPlugin*                 \
  hlokit_pass_plugin() {                                                                      \
    static const hlokit::PassPluginRow rows[] = {__VA_ARGS__};                                \
    static const hlokit::PassPlugin plugin = {hlokit::kPassPluginVersion,                     \
                                              sizeof(rows) / sizeof(rows[0]),                 \
                                              hlokit::PassPluginLayout(), plugin_name, rows}; \
    return &plugin;                                                                           \
  }
// SPDX-License-Identifier: Apache-2.0
