// Reading with a look at the messages, and print∘parse as a fixed point.
#include "fuzz/module_checks.h"

#include <string>

#include "fuzz/tokens.h"
#include "parser/parser.h"
#include "printer/printer.h"
#include "support/diagnostics.h"
#include "support/status.h"

namespace hlokit {
namespace {

// One number stands for a whole array of zeros, so that a short text may hold a constant whose
// elements nobody wants to print.
bool HasLargeConstants(const Module& module) {
  constexpr int64_t kLarge = 1 << 16;
  for (const Computation* computation : module.Computations())
    for (const Instruction* i : computation->Instructions())
      for (const ShapeLeaf& leaf : Leaves(i->shape()))
        if (i->IsConstant() && leaf.shape->ElementCount() > kLarge) return true;
  return false;
}

// The module that `text`, which was printed, gives.
std::unique_ptr<Module> ReadAgain(const std::string& text) {
  std::unique_ptr<Module> module = ReadModule(text, true);
  CHECK(module != nullptr) << "what was printed is refused:\n" << text;
  return module;
}

}  // namespace

std::unique_ptr<Module> ReadModule(absl::string_view text, bool allow_unknown_attributes) {
  const auto file = std::make_shared<const SourceFile>("fuzz.hlo", std::string(text));
  ParseOptions options;
  options.allow_unknown_attributes = allow_unknown_attributes;
  Diagnostics diagnostics;
  auto module = ParseModule(file, options, diagnostics);
  CHECK(module.ok() == diagnostics.ok()) << "a status without a message, or the reverse";
  CHECK(diagnostics.items().empty() == diagnostics.Render(*file).empty());
  return module.ok() ? *std::move(module) : nullptr;
}

void CheckFixedPoint(const Module& module) {
  PrintOptions options;
  options.large_constants = !HasLargeConstants(module);
  PrintOptions bare = options;
  bare.metadata = false;  // stack frames are numbered as they come up
  const std::string text = Print(module, options);
  const std::unique_ptr<Module> again = ReadAgain(text);
  CHECK(SortedLines(Print(module, bare)) == SortedLines(Print(*again, bare)))
      << "printed\n"
      << text << "\nread back, it prints\n"
      << Print(*again, options);
  const std::string second = Print(*again, options);
  const std::string third = Print(*ReadAgain(second), options);
  CHECK(second == third) << "printed\n" << second << "\nread back, it prints\n" << third;
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
