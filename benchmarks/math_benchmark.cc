// The elementary functions as the CPU backend compiles them: time an element, on one thread.
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>

#include "absl/strings/str_cat.h"
#include "backends/cpu/cpu_backend.h"
#include "benchmark/benchmark.h"
#include "parser/parser.h"

namespace hlokit {
namespace {

constexpr int kElements = 4096;  // a kernel of this size runs on the calling thread

struct Function {
  const char* opcode;
  int operands;
};
constexpr Function kFunctions[] = {
    {"exponential", 1},  {"exponential-minus-one", 1},
    {"sinh", 1},         {"cosh", 1},
    {"tanh", 1},         {"log", 1},
    {"log-plus-one", 1}, {"asinh", 1},
    {"acosh", 1},        {"atanh", 1},
    {"sine", 1},         {"cosine", 1},
    {"tan", 1},          {"asin", 1},
    {"acos", 1},         {"cbrt", 1},
    {"erf", 1},          {"logistic", 1},
    {"rsqrt", 1},        {"sqrt", 1},
    {"atan2", 2},        {"power", 2},
};

std::string ModuleText(const Function& f, const std::string& shape) {
  return absl::StrCat("HloModule m\n\nENTRY e {\n  x = ", shape, " parameter(0)\n  y = ", shape,
                      " parameter(1)\n  ROOT r = ", shape, " ", f.opcode,
                      f.operands == 2 ? "(x, y)" : "(x)", "\n}\n");
}

template <typename T>
T OrDie(absl::StatusOr<T> value) {
  if (value.ok()) return *std::move(value);
  std::fprintf(stderr, "%s\n", value.status().ToString().c_str());
  std::exit(3);
}

// Arguments from 0.05 to 0.95, where all functions are defined; acosh gets them above 1.
Literal Argument(ElementType type, double from, double step) {
  Literal literal(Shape::Array(type, {kElements}).WithDefaultLayout());
  for (int i = 0; i < kElements; ++i) literal.SetDouble(i, from + step * i);
  return literal;
}

void BM_Math(benchmark::State& state, const Function& f, ElementType type) {
  const std::string shape = absl::StrCat(Text(type), "[", kElements, "]{0}");
  Diagnostics diagnostics;
  auto module = OrDie(ParseModule(
      std::make_shared<const SourceFile>(f.opcode, ModuleText(f, shape)), {}, diagnostics));
  CompileOptions options;
  options.threads = 1;
  const auto executable = OrDie(MakeCpuBackend()->Compile(std::move(module), options));
  const bool above_one = std::string(f.opcode) == "acosh";
  const Literal x = Argument(type, above_one ? 1.05 : 0.05, 0.9 / kElements);
  const Literal y = Argument(type, 1.5, 0);
  const auto run = OrDie(executable->Prepare({{&x, &y}}));
  for (auto _ : state)
    if (!run->Run().ok()) state.SkipWithError("the run failed");
  state.SetItemsProcessed(state.iterations() * kElements);
}

void Register() {
  for (const Function& f : kFunctions)
    for (const ElementType type : {ElementType::kF32, ElementType::kF64})
      benchmark::RegisterBenchmark(
          absl::StrCat("math/", f.opcode, "/", Text(type)).c_str(),
          [&f, type](benchmark::State& state) { BM_Math(state, f, type); });
}

}  // namespace
}  // namespace hlokit

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  hlokit::Register();
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
// SPDX-License-Identifier: Apache-2.0
