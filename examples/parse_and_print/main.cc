// Reads the module named on the command line, checks it, and prints it: whole, and one line a
// computation.
#include <iostream>
#include <memory>

#include "parser/parser.h"
#include "printer/printer.h"
#include "support/file.h"
#include "verifier/verifier.h"

namespace {

// The module in `path`, or null; every error is on standard error then, with its line and a caret.
std::unique_ptr<hlokit::Module> ReadModule(const std::string& path) {
  absl::StatusOr<std::string> text = hlokit::ReadFile(path);
  if (!text.ok()) {
    std::cerr << text.status() << "\n";
    return nullptr;
  }
  const auto file = std::make_shared<const hlokit::SourceFile>(path, *std::move(text));
  hlokit::Diagnostics diagnostics;
  auto module = hlokit::ParseModule(file, hlokit::ParseOptions(), diagnostics);
  const bool good = module.ok() && hlokit::Verify(**module, diagnostics).ok();
  std::cerr << diagnostics.Render(*file);
  return good ? *std::move(module) : nullptr;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::cerr << "usage: parse_and_print FILE\n";
    return 2;
  }
  const std::unique_ptr<hlokit::Module> module = ReadModule(argv[1]);
  if (module == nullptr) return 2;

  hlokit::PrintOptions options;  // as XLA's ToString() prints
  options.metadata = false;
  const std::string text = hlokit::Print(*module, options);
  std::cout << text;
  for (const hlokit::Computation* computation : module->Computations())
    std::cout << computation->name() << ": " << computation->instruction_count()
              << " instructions; root: "
              << hlokit::Print(*computation->root(), hlokit::PrintOptions::Short()) << "\n";

  // What was printed is a module again, and prints the same.
  const auto again = hlokit::ParseModule(text);
  return again.ok() && hlokit::Print(**again, options) == text ? 0 : 1;
}
// SPDX-License-Identifier: Apache-2.0
