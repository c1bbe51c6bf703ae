// hlo-aot: compiles a module ahead of time, to an object and the header that goes with it.
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <string_view>

#include "CLI/CLI.hpp"
#include "absl/strings/str_cat.h"
#include "aot/generate_header.h"
#include "aot/package.h"
#include "llvm-c/ErrorHandling.h"
#include "support/file.h"
#include "support/status.h"
#include "tools/common/exit_status.h"
#include "tools/common/flags.h"
#include "tools/common/load.h"
#include "tools/common/signals.h"

namespace hlokit {
namespace {

constexpr char kTool[] = "hlo-aot";
constexpr char kExamples[] = R"(Examples:
  hlo-aot net.hlo --name=my_net -o my_net.o --header=my_net.h
  hlo-aot net.hlo --name=my_net --format=static -o libmy_net.a --header=my_net.h --target-cpu=x86-64-v3
  hlo-aot net.hlo --name=my_net -o my_net.o --header=my_net.h --weights=my_net.weights
  hlo-aot net.hlo --name=my_net -o my_net.o --target-triple=aarch64-linux-gnu

A C or C++ program includes the header and links the object and hlokit's runtime library; no compiler, LLVM included, is
needed where it runs. With CMake: hlokit_add_aot_library(my_net net.hlo).)";

struct ToolOptions {
  std::string input, output, header, weights;
  std::string format = "object";
  AotOptions aot;
  PackageOptions package;
};

// The runtime library near this program: ../lib/hlokit where it was installed, ../lib in a build.
std::string FindRuntime() {
  std::error_code error;
  const std::filesystem::path self = std::filesystem::read_symlink("/proc/self/exe", error);
  const std::filesystem::path prefix = self.parent_path().parent_path();
  for (const char* folder : {"lib/hlokit", "lib"}) {
    const std::filesystem::path library = prefix / folder / "libhlokit_runtime.a";
    if (std::filesystem::exists(library, error)) return library.string();
  }
  return "";
}

absl::Status Write(const ToolOptions& o, const AotObject& object) {
  if (!o.weights.empty()) RETURN_IF_ERROR(AtomicWriteFile(o.weights, object.weights));
  if (!o.header.empty())
    RETURN_IF_ERROR(AtomicWriteFile(o.header, GenerateHeader(object, o.aot.name, o.input)));
  return WritePackage(object, o.package);
}

// A file written twice would hold what came last.
absl::Status CheckFiles(const ToolOptions& o) {
  if (o.header == o.output || (!o.weights.empty() && o.weights == o.output))
    return InvalidArgument("two files would be written to ", o.output);
  if (!o.weights.empty() && o.weights == o.header)
    return InvalidArgument("two files would be written to ", o.header);
  return absl::OkStatus();
}

int Run(ToolOptions& o) {
  if (const absl::Status files = CheckFiles(o); !files.ok()) return ReportError(kTool, files);
  EndOnSignals(kTool, /*time_limit_s=*/0);
  int exit_status = kExitDone;
  std::optional<LoadedModule> loaded = LoadFile(kTool, o.input, {}, exit_status);
  if (!loaded) return exit_status;
  o.aot.weights_in_object = o.weights.empty();
  o.package.format = o.format == "static" ? AotFormat::kStatic
                     : o.format == "so"   ? AotFormat::kShared
                                          : AotFormat::kObject;
  o.package.path = o.output;
  o.package.name = o.aot.name;
  if (o.package.runtime.empty()) o.package.runtime = FindRuntime();
  const absl::StatusOr<AotObject> object = CompileAhead(std::move(loaded->module), o.aot);
  if (!object.ok()) return ReportError(kTool, object.status(), loaded->source.get());
  return ReportError(kTool, Write(o, *object));
}

bool Parse(int argc, const char* const* argv, ToolOptions& o, int& exit_status) {
  CLI::App app("Compiles an HLO module ahead of time.", kTool);
  app.add_option("input", o.input, "HLO text or protobuf, or - for standard input")->required();
  app.add_option("-o,--output", o.output, "the object or library")->required()->type_name("FILE");
  app.add_option("--name", o.aot.name, "of the program in C and C++, an identifier")->required();
  app.add_option("--header", o.header, "a header for C and C++")->type_name("FILE");
  app.add_option("--format", o.format, "what to write: object, static (.a) or so")
      ->check(CLI::IsMember({"object", "static", "so"}));
  app.add_option("--weights", o.weights,
                 "values of constants here, to be mapped, not in the object")
      ->type_name("FILE");
  app.add_option("--target-triple", o.aot.triple, "such as aarch64-linux-gnu; this machine's");
  app.add_option("--target-cpu", o.aot.cpu,
                 "such as x86-64-v3 or cortex-a72; this machine's, or any of the triple given");
  app.add_option("--target-features", o.aot.features, "such as +avx2,-fma");
  app.add_option("--opt-level", o.aot.opt_level, "of code generation")->check(CLI::Range(0, 3));
  app.add_flag("!--no-passes", o.aot.run_passes, "compile the module as it stands");
  app.add_flag("--donate", o.aot.donate,
               "compute results in the memory of the arguments that the module donates to them");
  app.add_option("--linker", o.package.linker, "the C++ compiler that links a .so; $CXX, else c++");
  app.add_option("--runtime", o.package.runtime, "libhlokit_runtime.a, for a .so");
  return ParseToolFlags(app, argc, argv, kExamples, exit_status);
}

// What a target of LLVM cannot do: it ends the process after this.
void ReportLlvmError(const char* reason) {
  const std::string_view text = reason;
  std::fprintf(stderr, "%s: error: LLVM cannot compile this for the target: %s\n", kTool,
               std::string(text.substr(0, text.find('\n'))).c_str());
  std::fflush(nullptr);
  std::_Exit(kExitUsage);
}

}  // namespace
}  // namespace hlokit

int main(int argc, char** argv) {
  hlokit::ToolOptions options;
  int exit_status = 0;
  if (!hlokit::Parse(argc, argv, options, exit_status)) return exit_status;
  LLVMInstallFatalErrorHandler(hlokit::ReportLlvmError);
  return hlokit::Run(options);
}
// SPDX-License-Identifier: Apache-2.0
