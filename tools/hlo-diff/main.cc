// hlo-diff: what differs between two modules, matched by what they compute.
#include "CLI/CLI.hpp"
#include "absl/strings/str_cat.h"
#include "support/file.h"
#include "support/status.h"
#include "tools/common/exit_status.h"
#include "tools/common/flags.h"
#include "tools/common/load.h"
#include "tools/common/signals.h"
#include "tools/hlo-diff/report.h"

namespace hlokit {
namespace {

constexpr char kTool[] = "hlo-diff";
constexpr char kExamples[] = R"(Examples:
  hlo-diff before.hlo after.hlo               what a pass did, whatever it did to names
  hlo-diff a.hlo b.hlo --metadata             op names and source lines count too
  hlo-diff a.hlo.pb b.hlo --format=html -o diff.html

Exit status: 0 equal but for names; 1 they differ; 2 bad flags, text or module.)";

struct DiffOptions {
  std::string before, after, output = "-", format = "text";
  bool quiet = false, metadata = false, layouts = true, verify = true;
  LoadOptions load;
};

bool Parse(int argc, const char* const* argv, DiffOptions& o, int& exit_status) {
  CLI::App app("Compares two HLO modules by structure, blind to names.", kTool);
  app.add_option("before", o.before, "HLO text or protobuf")->required()->type_name("FILE");
  app.add_option("after", o.after, "HLO text or protobuf")->required()->type_name("FILE");
  app.add_option("-o,--output", o.output, "where the report goes")->type_name("FILE");
  app.add_option("--format", o.format, "text, json or html")
      ->check(CLI::IsMember({"text", "json", "html"}));
  app.add_flag("-q,--quiet", o.quiet, "no report: the exit status tells");
  app.add_flag("--metadata", o.metadata, "metadata counts");
  app.add_flag("!--ignore-layouts", o.layouts, "layouts do not count");
  app.add_flag("!--no-verify", o.load.verify, "take the modules as they are");
  app.add_flag("--allow-unknown-attributes", o.load.allow_unknown_attributes,
               "keep attributes that this version does not know, with a warning");
  return ParseFlags(app, NormalizeArguments(argc, argv), kExamples, exit_status);
}

std::string Report(const DiffOptions& o, const Comparison& comparison) {
  if (o.format == "json") return JsonReport(comparison);
  return o.format == "html" ? HtmlReport(comparison) : TextReport(comparison);
}

int Run(const DiffOptions& o) {
  EndOnSignals(kTool, /*time_limit_s=*/0);
  if (o.before == "-" && o.after == "-")
    return ReportError(kTool, InvalidArgument("only one of the modules can be standard input"));
  int exit_status = kExitDone;
  const auto loaded_before = LoadFile(kTool, o.before, o.load, exit_status);
  if (!loaded_before) return exit_status;
  const auto loaded_after = LoadFile(kTool, o.after, o.load, exit_status);
  if (!loaded_after) return exit_status;
  const Module& before = *loaded_before->module;
  const Module& after = *loaded_after->module;
  const uint32_t ignored = (o.metadata ? 0u : kMetadataAspect) | (o.layouts ? 0u : kLayoutAspect);
  const ModuleMatch match(before, after);
  const ModuleDifference difference = Difference(before, after, match, ignored);
  if (!o.quiet) {
    const std::string report =
        Report(o, {o.before, o.after, before, after, match, difference, ignored});
    if (absl::Status written = AtomicWriteFile(o.output, report); !written.ok())
      return ReportError(kTool, written);
  }
  return difference.empty() ? kExitDone : kExitCheckFailed;
}

}  // namespace
}  // namespace hlokit

int main(int argc, char** argv) {
  hlokit::DiffOptions options;
  int exit_status = 0;
  if (!hlokit::Parse(argc, argv, options, exit_status)) return exit_status;
  return hlokit::Run(options);
}
// SPDX-License-Identifier: Apache-2.0
