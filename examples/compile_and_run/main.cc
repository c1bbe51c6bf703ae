// Compiles a module for this machine, runs it, and holds the result to the interpreter's.
#include <iostream>

#include "backends/cpu/cpu_backend.h"
#include "interpreter/interpreter.h"
#include "parser/parser.h"
#include "types/literal_text.h"
#include "verifier/verifier.h"

constexpr char kText[] = R"(
ENTRY axpy {
  a = f32[] parameter(0)
  x = f32[4] parameter(1)
  y = f32[4] parameter(2)
  scale = f32[4] broadcast(a), dimensions={}
  ax = f32[4] multiply(scale, x)
  ROOT r = f32[4] add(ax, y)
}
)";

namespace {

absl::StatusOr<hlokit::Literal> CompileAndRun(const hlokit::Module& module,
                                              const std::vector<hlokit::Literal>& arguments) {
  const std::unique_ptr<hlokit::Backend> cpu = hlokit::MakeCpuBackend();
  auto executable = cpu->Compile(module.Clone(), hlokit::CompileOptions());
  if (!executable.ok()) return executable.status();
  return (*executable)->Run(arguments);
}

int Fail(const absl::Status& status) {
  std::cerr << hlokit::RenderStatus(status, hlokit::SourceFile("axpy.hlo", std::string(kText)));
  return 1;
}

}  // namespace

int main() {
  const auto module = hlokit::ParseModule(kText);
  if (!module.ok()) return Fail(module.status());
  hlokit::Diagnostics diagnostics;
  if (absl::Status status = hlokit::Verify(**module, diagnostics); !status.ok())
    return Fail(status);

  const std::vector<hlokit::Literal> arguments = {hlokit::Literal::R0<float>(2),
                                                  hlokit::Literal::R1<float>({1, 2, 3, 4}),
                                                  hlokit::Literal::R1<float>({10, 20, 30, 40})};
  const auto native = CompileAndRun(**module, arguments);
  if (!native.ok()) return Fail(native.status());
  const auto interpreted = hlokit::Interpret(**module, arguments);
  if (!interpreted.ok()) return Fail(interpreted.status());

  const std::string text = hlokit::Text(*native);
  std::cout << text << "\n";
  return text == "{12, 24, 36, 48}" && text == hlokit::Text(interpreted->front()) ? 0 : 1;
}
// SPDX-License-Identifier: Apache-2.0
