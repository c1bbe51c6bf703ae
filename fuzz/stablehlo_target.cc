// StableHLO programs: MLIR bytecode is mutated byte by byte, text token by token. What is refused
// must name a reason; what verifies must print as HLO that reads back and prints the same.
//
// Example: `module { func.func @main() -> tensor<2xf32> { ... } }` gives a module that verifies and
// reads back as HLO; with `tensor<2xf3>` it gives an error.
// Limits: says nothing of whether the conversion is right; scripts/stablehlo/stablehlo_peer.py does.
#include <memory>
#include <string>

#include "fuzz/module_checks.h"
#include "fuzz/target.h"
#include "ir/sanitized_name.h"
#include "stablehlo/stablehlo.h"
#include "support/diagnostics.h"
#include "support/status.h"
#include "verifier/verifier.h"

namespace hlokit {
namespace {

// Keys of frontend attributes are any text in MLIR; only words stand in HLO text.
bool HasOddKeys(const Module& module) {
  for (const Computation* computation : module.Computations())
    for (const Instruction* i : computation->Instructions())
      for (const auto& [key, value] : i->extras().frontend_attributes)
        if (SanitizedName(key) != key) return true;
  return false;
}

}  // namespace

InputKind KindOf(absl::string_view input) {
  return IsMlirBytecode(input) ? InputKind::kBinary : InputKind::kText;
}

bool RunOne(absl::string_view input) {
  const auto file = std::make_shared<const SourceFile>("fuzz.mlir", std::string(input));
  const auto module = ReadStablehlo(file);
  if (!module.ok()) {
    CHECK(!module.status().message().empty());
    return false;
  }
  Diagnostics diagnostics;
  const absl::Status status = Verify(**module, diagnostics);
  CHECK(status.ok() == diagnostics.ok());
  diagnostics.Render(*file);
  if (!status.ok()) return false;
  (*module)->set_name("m");  // `nan` names a module, but not in HLO text (nor in XLA's)
  if (!HasOddKeys(**module)) CheckFixedPoint(**module);
  return true;
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
