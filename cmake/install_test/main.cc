// Uses the installed headers and libraries as a stranger would: reads a module and prints it.
#include <cstdio>
#include <memory>
#include <string>

#include "parser/parser.h"
#include "printer/printer.h"

constexpr char kModule[] =
    "HloModule m\nENTRY e { p = f32[2] parameter(0) ROOT n = f32[2] negate(p) }\n";

int main() {
  auto file = std::make_shared<const hlokit::SourceFile>("m.hlo", kModule);
  hlokit::Diagnostics diagnostics;
  auto module = hlokit::ParseModule(file, {}, diagnostics);
  if (!module.ok()) {
    std::fputs(diagnostics.Render(*file).c_str(), stderr);
    return 1;
  }
  std::string text = hlokit::Print(**module);
  std::fputs(text.c_str(), stdout);
  return text.find("ROOT %n = f32[2]{0} negate(%p)") != std::string::npos ? 0 : 1;
}
// SPDX-License-Identifier: Apache-2.0
