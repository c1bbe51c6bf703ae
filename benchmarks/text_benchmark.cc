// Reading, printing, verifying and freeing of modules, and their way through protobuf: of files
// named on the command line, else of sample texts from 10 KB to 100 MB.
#include <malloc.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "benchmark/benchmark.h"
#include "benchmarks/sample_text.h"
#include "parser/parser.h"
#include "printer/printer.h"
#include "proto/proto_file.h"
#include "support/file.h"
#include "verifier/verifier.h"

namespace hlokit {
namespace {

using Source = std::shared_ptr<const SourceFile>;

std::unique_ptr<Module> Read(const Source& source) {
  Diagnostics diagnostics;
  ParseOptions options;
  options.allow_unknown_attributes = true;
  auto module = ParseModule(source, options, diagnostics);
  if (module.ok()) return *std::move(module);
  std::fputs(diagnostics.Render(*source).c_str(), stderr);
  std::exit(2);
}

size_t HeapBytes() {
  const struct mallinfo2 info = mallinfo2();
  return info.uordblks + info.hblkhd;
}

void CountBytes(benchmark::State& state, size_t bytes) {
  state.SetBytesProcessed(static_cast<int64_t>(bytes) * state.iterations());
}

// `memory`: bytes of the module alone for each byte of text.
void BM_Read(benchmark::State& state, const Source& source) {
  const size_t before = HeapBytes();
  std::unique_ptr<Module> module = Read(source);
  const size_t after = HeapBytes();
  for (auto _ : state) {
    state.PauseTiming();
    module.reset();
    state.ResumeTiming();
    module = Read(source);
  }
  CountBytes(state, source->text().size());
  state.counters["memory"] =
      static_cast<double>(after - before) / static_cast<double>(source->text().size());
}

// Bytes of memory that the system has given to this process.
size_t ResidentBytes() {
  size_t whole = 0, resident = 0;
  std::ifstream("/proc/self/statm") >> whole >> resident;
  return resident * static_cast<size_t>(sysconf(_SC_PAGESIZE));
}

// `resident`: the same as `memory` in what the process grows by, over so many copies of the module
// that pages and what reading leaves behind do not count.
void BM_Memory(benchmark::State& state, const Source& source) {
  constexpr size_t kText = size_t{64} << 20;
  const size_t copies = kText / source->text().size() + 1;
  std::vector<std::unique_ptr<Module>> modules;
  for (auto _ : state) {
    modules.clear();
    malloc_trim(0);
    const size_t before = ResidentBytes();
    while (modules.size() < copies) modules.push_back(Read(source));
    state.counters["resident"] = static_cast<double>(ResidentBytes() - before) /
                                 static_cast<double>(copies * source->text().size());
  }
}

void BM_Free(benchmark::State& state, const Source& source) {
  for (auto _ : state) {
    state.PauseTiming();
    std::unique_ptr<Module> module = Read(source);
    state.ResumeTiming();
    module.reset();
  }
  CountBytes(state, source->text().size());
}

void BM_Print(benchmark::State& state, const Source& source) {
  const std::unique_ptr<Module> module = Read(source);
  size_t bytes = 0;
  for (auto _ : state) {
    const std::string text = Print(*module);
    bytes = text.size();
    benchmark::DoNotOptimize(text.data());
  }
  CountBytes(state, bytes);
}

void BM_Verify(benchmark::State& state, const Source& source) {
  const std::unique_ptr<Module> module = Read(source);
  for (auto _ : state) {
    Diagnostics diagnostics;
    benchmark::DoNotOptimize(Verify(*module, diagnostics));
  }
  CountBytes(state, source->text().size());
}

// Rates of both directions of protobuf are in bytes of the text, so that they compare with reading
// and printing it.
void BM_ReadProto(benchmark::State& state, const Source& source) {
  const auto bytes = WriteModuleProto(*Read(source), ProtoEncoding::kBinary);
  if (!bytes.ok()) return state.SkipWithError("the module has no form as a message");
  std::unique_ptr<Module> module;
  for (auto _ : state) {
    state.PauseTiming();
    module.reset();
    state.ResumeTiming();
    auto read = ReadModuleProto(*bytes);
    if (!read.ok()) return state.SkipWithError("the message is refused");
    module = *std::move(read);
  }
  CountBytes(state, source->text().size());
  state.counters["message"] =
      static_cast<double>(bytes->size()) / static_cast<double>(source->text().size());
}

void BM_WriteProto(benchmark::State& state, const Source& source) {
  const std::unique_ptr<Module> module = Read(source);
  for (auto _ : state) {
    const auto bytes = WriteModuleProto(*module, ProtoEncoding::kBinary);
    if (!bytes.ok()) return state.SkipWithError("the module has no form as a message");
    benchmark::DoNotOptimize(bytes->data());
  }
  CountBytes(state, source->text().size());
}

using Benchmark = void (*)(benchmark::State&, const Source&);
constexpr std::pair<const char*, Benchmark> kBenchmarks[] = {
    {"read", BM_Read},    {"print", BM_Print},          {"verify", BM_Verify},
    {"free", BM_Free},    {"read_proto", BM_ReadProto}, {"write_proto", BM_WriteProto},
    {"memory", BM_Memory}};

void Register(const std::string& name, const Source& source) {
  for (const auto& [what, function] : kBenchmarks)
    benchmark::RegisterBenchmark((std::string(what) + "/" + name).c_str(), function, source)
        ->Unit(benchmark::kMillisecond);
}

int RegisterFiles(const std::vector<std::string>& paths) {
  for (const std::string& path : paths) {
    auto text = ReadFile(path);
    if (!text.ok()) {
      std::fprintf(stderr, "%s\n", std::string(text.status().message()).c_str());
      return 2;
    }
    Register(std::filesystem::path(path).stem(),
             std::make_shared<const SourceFile>(path, *std::move(text)));
  }
  return 0;
}

// The texts are made when a filter first asks for one, and the last one is kept.
void RegisterSamples() {
  for (const int64_t kilobytes : {10, 100, 1000, 10000, 100000}) {
    for (const auto& [what, function] : kBenchmarks)
      benchmark::RegisterBenchmark(
          (std::string(what) + "/sample_" + std::to_string(kilobytes) + "k").c_str(),
          [function = function, kilobytes](benchmark::State& state) {
            static int64_t made = 0;
            static Source source;
            if (made != kilobytes)
              source =
                  std::make_shared<const SourceFile>("sample", SampleModuleText(kilobytes * 1000));
            made = kilobytes;
            function(state, source);
          })
          ->Unit(benchmark::kMillisecond);
  }
}

}  // namespace
}  // namespace hlokit

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  const std::vector<std::string> paths(argv + 1, argv + argc);
  if (const int status = hlokit::RegisterFiles(paths); status != 0) return status;
  if (paths.empty()) hlokit::RegisterSamples();
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
// SPDX-License-Identifier: Apache-2.0
