// One program with all tools in it. Under the name of a tool it is that tool (a link hlo-run to it,
// or exec with that name); as `hlokit hlo-run module.hlo` it takes the name from the first
// argument.
//
// Names of XLA's programs (run_hlo_module) are those of the tools that do their work.
//
// HLOKIT_TOOLS, which CMake sets, is TOOL(hlo_run)TOOL(hlo_opt)...: each tool's main() is compiled
// under the name hlo_run_main().
#include <algorithm>
#include <cstdio>
#include <string>

#include "absl/strings/string_view.h"
#include "tools/common/exit_status.h"
#include "tools/common/xla_flags.h"

#define TOOL(name) int name##_main(int argc, char** argv);
HLOKIT_TOOLS
#undef TOOL

namespace hlokit {
namespace {

struct Tool {
  absl::string_view name;  // with underscores
  int (*main)(int argc, char** argv);
};
constexpr Tool kTools[] = {
#define TOOL(name) {#name, name##_main},
    HLOKIT_TOOLS
#undef TOOL
};

// hlo-run is hlo_run, and so is hlo_run. Null where no tool has the name.
const Tool* FindTool(absl::string_view path) {
  std::string name(path.substr(path.rfind('/') + 1));
  if (const XlaProgram* program = FindXlaProgram(path)) name = std::string(program->tool);
  std::replace(name.begin(), name.end(), '-', '_');
  for (const Tool& tool : kTools)
    if (tool.name == name) return &tool;
  return nullptr;
}

int Usage(FILE* out) {
  std::fputs("hlokit TOOL ARGUMENTS...: runs one of\n", out);
  for (const Tool& tool : kTools) {
    std::string name(tool.name);
    std::replace(name.begin(), name.end(), '_', '-');
    std::fprintf(out, "  %s\n", name.c_str());
  }
  for (const XlaProgram& program : XlaPrograms())
    std::fprintf(out, "  %.*s\n", static_cast<int>(program.name.size()), program.name.data());
  std::fputs("`hlokit TOOL --help` tells what each does.\n", out);
  return out == stdout ? kExitDone : kExitUsage;
}

}  // namespace
}  // namespace hlokit

int main(int argc, char** argv) {
  if (argc < 1) return hlokit::Usage(stderr);
  if (const hlokit::Tool* tool = hlokit::FindTool(argv[0])) return tool->main(argc, argv);
  if (argc < 2) return hlokit::Usage(stderr);
  const absl::string_view first = argv[1];
  if (first == "--help" || first == "-h") return hlokit::Usage(stdout);
  if (const hlokit::Tool* tool = hlokit::FindTool(first)) return tool->main(argc - 1, argv + 1);
  std::fprintf(stderr, "hlokit: error: there is no tool %s\n", argv[1]);
  return hlokit::Usage(stderr);
}
// SPDX-License-Identifier: Apache-2.0
