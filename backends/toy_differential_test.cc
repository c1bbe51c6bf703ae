// The toy target beside the interpreter: the modules of testdata/ops on random inputs and, where it
// is there, of ../shared/corpus/jax/ops on the recorded ones.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <thread>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "backends/toy_target_internal.h"
#include "ops/infer/dynamic_dimensions.h"
#include "parser/parser.h"
#include "support/file.h"
#include "types/compare.h"
#include "types/npz.h"
#include "types/random_literal.h"
#include "verifier/verifier.h"

namespace hlokit {
namespace {

namespace fs = std::filesystem;

std::unique_ptr<Module> ParseVerified(absl::string_view text) {
  Diagnostics diagnostics;
  auto module = ParseModule(std::make_shared<const SourceFile>("module", std::string(text)),
                            ParseOptions(), diagnostics);
  if (!module.ok() || !Verify(**module, diagnostics).ok()) return nullptr;
  DeclareDynamicDimensions(**module);
  return *std::move(module);
}

template <typename Predicate>
bool HasInstruction(const Module& module, Predicate predicate) {
  for (const Computation* c : module.Computations())
    for (const Instruction* i : c->Instructions())
      if (predicate(*i)) return true;
  return false;
}

bool IsDynamic(const Instruction& i) { return i.shape().HasDynamicDims(); }
bool IsRng(const Instruction& i) { return i.opcode() == Opcode::kRng; }

Literal RandomValue(const Shape& shape, uint64_t stream) {
  if (shape.IsTuple()) {
    std::vector<Literal> elements;
    for (const Shape& e : shape.elements) elements.push_back(RandomValue(e, ++stream));
    return Literal::Tuple(std::move(elements));
  }
  if (!shape.IsArray()) return Literal::Token();
  Literal literal(shape);
  FillRandom(literal, stream, RandomRanges());
  return literal;
}

// Arrays in0, in1, ... of the file for the entry's parameters, which are arrays; random values
// where there is no such file.
std::vector<Literal> ArgumentsOf(const Module& module, const std::string& npz) {
  const auto file = NpzFile::Open(npz);
  std::vector<Literal> arguments;
  for (const Instruction* parameter : module.entry()->parameters()) {
    const std::string name = absl::StrCat("in", arguments.size());
    if (!file.ok() || !file->Contains(name)) {
      arguments.push_back(RandomValue(parameter->shape(), arguments.size() * 1000));
      continue;
    }
    auto value = ToLiteral(*file->Read(name), parameter->shape(), name);
    EXPECT_TRUE(value.ok()) << value.status();
    arguments.push_back(value.ok() ? *std::move(value) : Literal(parameter->shape()));
  }
  return arguments;
}

// Sums are added up in another order, and elementary functions are written twice; bf16 is rounded
// less often in kernels.
CompareOptions Tolerance(absl::string_view text) {
  CompareOptions options;
  options.rel_error = options.abs_error = absl::StrContains(text, "bf16[") ? 2e-2 : 5e-5;
  return options;
}

// Whether the module was run: not those that are invalid on purpose, never end, or have results
// that cannot be compared.
bool Check(absl::string_view text, const std::string& npz) {
  const std::unique_ptr<Module> module = ParseVerified(text);
  if (module == nullptr || HasInstruction(*module, IsDynamic)) return false;
  const std::vector<Literal> arguments = ArgumentsOf(*module, npz);
  std::vector<const Literal*> pointers;
  for (const Literal& argument : arguments) pointers.push_back(&argument);
  InterpreterOptions options;
  options.step_limit = 10'000'000;
  options.infeed = [](int64_t device, const Shape& shape) { return RandomValue(shape, device); };
  const ModuleHeader& header = module->header();
  const std::vector<std::vector<const Literal*>> by_device(
      header.replica_count * header.num_partitions, pointers);
  const auto expected = InterpretDevices(*module, by_device, options);
  if (absl::IsResourceExhausted(expected.status())) return false;
  const auto actual = RunOnToy(ParseVerified(text), pointers, options);
  EXPECT_EQ(actual.ok(), expected.ok()) << actual.status() << "; " << expected.status();
  // Every run of rng draws other numbers.
  if (!actual.ok() || !expected.ok() || HasInstruction(*module, IsRng)) return true;
  for (size_t device = 0; device < expected->size(); ++device) {
    const CompareResult result = Compare((*expected)[device], (*actual)[device], Tolerance(text));
    EXPECT_TRUE(result.equal) << "device " << device << "\n"
                              << result.shape_mismatch << result.Report();
  }
  return true;
}

// The number of the file's modules that ran.
int CheckFile(const std::string& path) {
  SCOPED_TRACE(path);
  const auto file = ReadFile(path);
  EXPECT_TRUE(file.ok()) << file.status();
  int ran = 0;
  if (!file.ok()) return ran;
  const std::string npz = fs::path(path).replace_extension(".npz");
  for (absl::string_view text : absl::StrSplit(*file, "// -----\n"))
    ran += Check(text, npz) ? 1 : 0;
  return ran;
}

// The number of modules that ran, on as many threads as there are cores.
int CheckFolder(const fs::path& folder) {
  std::vector<std::string> paths;
  for (const auto& entry : fs::recursive_directory_iterator(folder))
    if (entry.path().extension() == ".hlo") paths.push_back(entry.path().string());
  std::sort(paths.begin(), paths.end());
  std::atomic<size_t> next = 0;
  std::atomic<int> ran = 0;
  std::vector<std::thread> threads(std::max(1u, std::thread::hardware_concurrency()));
  for (std::thread& thread : threads)
    thread = std::thread([&] {
      for (size_t k; (k = next++) < paths.size();) ran += CheckFile(paths[k]);
    });
  for (std::thread& thread : threads) thread.join();
  return ran;
}

TEST(ToyTargetDifferentialTest, AgreesOnTestdata) {
  EXPECT_GE(CheckFolder(HLOKIT_SOURCE_DIR "/testdata/ops"), 370);
}

TEST(ToyTargetDifferentialTest, AgreesOnCorpus) {
  const fs::path corpus = HLOKIT_SOURCE_DIR "/../shared/corpus/jax/ops";
  if (!fs::exists(corpus)) GTEST_SKIP() << corpus << " is missing";
  EXPECT_GE(CheckFolder(corpus), 909);
}

}  // namespace
}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
