// What the flags of XLA's programs, and of XLA_FLAGS, are in the flags of ours.
#pragma once

#include <cstdint>
#include <string>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"

namespace hlokit {

// Names under which a tool is called; a flag's row holds for several.
enum Callers : uint32_t {
  kHloRun = 1u << 0,
  kRunHloModule = 1u << 1,
  kHloRunner = 1u << 2,  // hlo_runner_main, multihost_hlo_runner
  kIsolationTest = 1u << 3,
  kHloOpt = 1u << 4,
  kIsolateHlo = 1u << 5,
  kProtoToJson = 1u << 6,
  kTranslate = 1u << 7,
  kGraphviz = 1u << 8,
  kBisect = 1u << 9,
  kComputeCost = 1u << 10,
  kHloDiff = 1u << 11,
  kOtherTool = 1u << 12,  // our own names of the rest
  kHloAot = 1u << 13,
  kShowSignature = 1u << 14,
  kDumpedToText = 1u << 15,        // dumped_computation_to_text
  kDumpedToOperations = 1u << 16,  // dumped_computation_to_operation_list
  kDumpedToGraph = 1u << 17,       // dumped_computation_to_graphviz
  kExpand = 1u << 18,              // hlo-expand
  kShowLiteral = 1u << 19,         // show_literal, show_text_literal
  kXlaCompile = 1u << 20,          // xla_compile
  kConvert = 1u << 21,             // convert

  kRunners = kHloRun | kRunHloModule | kHloRunner | kIsolationTest,
  kOpts = kHloOpt | kIsolateHlo | kProtoToJson | kTranslate | kShowSignature | kDumpedToText |
          kDumpedToOperations | kExpand | kShowLiteral | kConvert,
  kAnyCaller = (1u << 22) - 1,
};

// A name of a program of XLA's, and the tool that does its work.
struct XlaProgram {
  absl::string_view name;  // as installed; dashes and underscores are the same
  absl::string_view tool;
  Callers caller;
};
absl::Span<const XlaProgram> XlaPrograms();
// By the last part of a path, as argv[0] has it; null where the name is not XLA's.
const XlaProgram* FindXlaProgram(absl::string_view path);

struct XlaFlag {
  enum class Meaning : uint8_t {
    kIs,        // `target` with the same value
    kWhereOn,   // `target`, where it is on; nothing where it is off
    kWhereOff,  // the other way round
    kPasses,    // `target` at the end of --passes, where it is on
    kFile,      // its value is the tool's input
    kAlways,    // what it asks for is so anyway
    kAlwaysOn,  // so it is, where it is on; off is not to be had: `target` says why
    kAlwaysOff,
    kNoEffect,   // warned about: `target` says why, or what to type instead
    kRefused,    // an error: `target` says what to type instead
    kPlatform,   // `target` with the name of one of our platforms
    kFormat,     // `target` with one of our formats
    kGpuTarget,  // `target` with the architecture of a GPU's description
    kThreads,    // one thread, where it is off
  };
  uint32_t callers;
  absl::string_view name;  // with dashes before it
  Meaning meaning;
  absl::string_view target;
};

// The row of a flag for a caller; null where there is none. Flags of XLA's compiler (--xla-...)
// that have no row of their own have that of their kind, and those that XLA does not know one that
// says so.
const XlaFlag* FindXlaFlag(Callers caller, absl::string_view name);
// Names of flags that have a meaning for a caller, for near matches.
bool HasMeaning(const XlaFlag& flag);
absl::Span<const XlaFlag> XlaFlags();
// Fields of DebugOptions by their names, without xla_, in the order of their declarations.
absl::Span<const absl::string_view> XlaCompilerFlags();
// Whether XLA's compiler has a flag of that name, and which has one that is spelt nearly so (empty
// where none does). With dashes before and between.
bool IsXlaCompilerFlag(absl::string_view name);
std::string NearXlaCompilerFlag(absl::string_view name);

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
