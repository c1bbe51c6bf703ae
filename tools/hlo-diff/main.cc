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
  hlo-diff --first-hlo-text=a.hlo --second-hlo-proto=b.pb --html-output=diff.html

Exit status: 0 equal but for names; 1 they differ; 2 bad flags, text or module.)";

struct DiffOptions {
  std::vector<std::string> files;  // before, after
  std::string first, second;       // the same, by flags
  std::string before, after;
  std::string output = "-", format = "text";
  std::string text_output, html_output;  // more reports
  bool quiet = false, metadata = false, layouts = true, shapes = true;
  LoadOptions load;
};

bool Parse(int argc, const char* const* argv, DiffOptions& o, int& exit_status) {
  CLI::App app("Compares two HLO modules by structure, blind to names.", kTool);
  app.add_option("files", o.files, "the module before and the one after: HLO text or protobuf")
      ->expected(0, 2)
      ->type_name("FILE");
  app.add_option("--first-hlo-text,--first-hlo-proto,--first-hlo-module-proto,--first-hlo-snapshot",
                 o.first, "the module before, as XLA's hlo_diff has it")
      ->type_name("FILE");
  app.add_option(
         "--second-hlo-text,--second-hlo-proto,--second-hlo-module-proto,--second-hlo-snapshot",
         o.second, "the module after")
      ->type_name("FILE");
  app.add_option(
         "--input-format", o.load.input_format,
         "text (hlo, txt), pb, pbtxt, json or stablehlo (mlir), whatever the files look like")
      ->transform(ModuleFormat());
  app.add_option("-o,--output", o.output, "where the report goes")->type_name("FILE");
  app.add_option("--format", o.format, "text, json or html")
      ->check(CLI::IsMember({"text", "json", "html"}));
  app.add_option("--text-output", o.text_output, "a report as text, besides")->type_name("FILE");
  app.add_option("--html-output", o.html_output, "a report as a page, besides")->type_name("FILE");
  app.add_flag("-q,--quiet", o.quiet, "no report: the exit status tells");
  app.add_flag("--metadata", o.metadata, "metadata counts");
  app.add_flag("!--ignore-layouts", o.layouts, "layouts do not count");
  app.add_flag("!--ignore-shapes", o.shapes, "neither layouts nor shapes count");
  app.add_flag("!--no-verify", o.load.verify, "take the modules as they are");
  app.add_flag("--allow-unknown-attributes", o.load.allow_unknown_attributes,
               "keep attributes that this version does not know, with a warning");
  if (!ParseToolFlags(app, argc, argv, kExamples, exit_status)) return false;
  std::vector<std::string> files = o.files;
  if (!o.first.empty()) files.insert(files.begin(), o.first);
  if (!o.second.empty()) files.push_back(o.second);
  if (files.size() == 2) {
    o.before = files[0];
    o.after = files[1];
    return true;
  }
  exit_status = ReportError(
      kTool, InvalidArgument("two modules are compared; there are ", files.size(),
                             " (hlo-diff BEFORE AFTER, --first-hlo-text=, --second-hlo-text=)"));
  return false;
}

std::string Report(absl::string_view format, const Comparison& comparison) {
  if (format == "json") return JsonReport(comparison);
  return format == "html" ? HtmlReport(comparison) : TextReport(comparison);
}

// All reports that flags ask for.
absl::Status WriteReports(const DiffOptions& o, const Comparison& comparison) {
  if (!o.text_output.empty())
    RETURN_IF_ERROR(AtomicWriteFile(o.text_output, TextReport(comparison)));
  if (!o.html_output.empty())
    RETURN_IF_ERROR(AtomicWriteFile(o.html_output, HtmlReport(comparison)));
  return o.quiet ? absl::OkStatus() : AtomicWriteFile(o.output, Report(o.format, comparison));
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
  uint32_t ignored = o.metadata ? 0u : kMetadataAspect;
  if (!o.layouts || !o.shapes) ignored |= kLayoutAspect;
  if (!o.shapes) ignored |= kShapeAspect;
  const ModuleMatch match(before, after);
  const ModuleDifference difference = Difference(before, after, match, ignored);
  const Comparison comparison = {o.before, o.after, before, after, match, difference, ignored};
  if (const absl::Status written = WriteReports(o, comparison); !written.ok())
    return ReportError(kTool, written);
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
