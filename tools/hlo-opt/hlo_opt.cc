// The work of hlo-opt: each module of the input is read, verified, transformed and printed.
#include <algorithm>

#include "absl/strings/str_cat.h"
#include "passes/extract.h"
#include "printer/printer.h"
#include "support/file.h"
#include "support/status.h"
#include "tools/common/exit_status.h"
#include "tools/common/load.h"
#include "tools/common/report.h"
#include "tools/common/signals.h"
#include "tools/hlo-opt/options.h"
#include "tools/hlo-opt/stages.h"
#include "tools/hlo-opt/transform.h"

namespace hlokit {
namespace {

constexpr absl::string_view kTool = "hlo-opt";
constexpr absl::string_view kSplitLine = "// -----";

struct Times {
  double parse_s = 0, verify_s = 0, passes_s = 0, print_s = 0;
};

absl::StatusOr<PrintOptions> FormatOptions(const std::string& format) {
  if (format == "text" || format == "hlo") return PrintOptions();
  if (format == "short") return PrintOptions::Short();
  if (format == "canonical") return PrintOptions::Canonical();
  if (format == "fingerprint") return PrintOptions::Fingerprint();
  return Unimplemented("--format=", format,
                       " is not written yet; use text, short, canonical or fingerprint");
}

// The pieces of `source` between lines that start with kSplitLine; places keep their line numbers.
std::vector<std::shared_ptr<const SourceFile>> Split(
    const std::shared_ptr<const SourceFile>& source) {
  std::vector<std::shared_ptr<const SourceFile>> pieces;
  const absl::string_view text = source->text();
  std::string blank;  // as many empty lines as stand before the piece
  std::string piece;
  for (size_t start = 0; start < text.size();) {
    const size_t end = std::min(text.find('\n', start), text.size() - 1) + 1;
    const absl::string_view line = text.substr(start, end - start);
    if (line.substr(0, kSplitLine.size()) == kSplitLine) {
      pieces.push_back(std::make_shared<const SourceFile>(source->name(), blank + piece));
      blank.append(std::count(piece.begin(), piece.end(), '\n') + 1, '\n');
      piece.clear();
    } else {
      piece.append(line.data(), line.size());
    }
    start = end;
  }
  pieces.push_back(std::make_shared<const SourceFile>(source->name(), blank + piece));
  return pieces;
}

// --extract: leaves of the module what computes the instructions named.
absl::Status CutOut(const OptOptions& o, std::unique_ptr<Module>& module) {
  if (o.extract.empty()) return absl::OkStatus();
  std::vector<const Instruction*> outputs;
  for (const std::string& name : o.extract) {
    ASSIGN_OR_RETURN(const Instruction* output, FindInstruction(*module, name));
    outputs.push_back(output);
  }
  ExtractOptions options;
  options.height = o.extract_height;
  ASSIGN_OR_RETURN(Extraction extraction, Extract(outputs, options));
  module = std::move(extraction.module);
  return absl::OkStatus();
}

// Reads, verifies, transforms and prints one module. Returns the exit status; errors have been
// printed.
int Process(const OptOptions& o, const std::string& passes, const PrintOptions& format,
            const std::shared_ptr<const SourceFile>& source, std::string& out, Times& times) {
  LoadOptions load;
  load.verify = o.verify;
  load.allow_unknown_attributes = o.allow_unknown_attributes;
  auto loaded = LoadModule(source, load);
  if (!loaded.ok()) return ExitStatusOf(loaded.status());
  times.parse_s += loaded->parse_s;
  times.verify_s += loaded->verify_s;
  Stopwatch watch;
  if (absl::Status status = CutOut(o, loaded->module); !status.ok())
    return ReportError(kTool, status, source.get());
  if (absl::Status status = Transform(*loaded->module, passes, o); !status.ok())
    return ReportError(kTool, status, source.get());
  times.passes_s += watch.Take();
  if (!out.empty()) absl::StrAppend(&out, kSplitLine, "\n");
  if (IsHloStage(o.stage)) {
    out = out.empty() ? Print(*loaded->module, format)
                      : absl::StrCat(out, Print(*loaded->module, format));
  } else {
    const auto made = RunStage(*loaded->module, o);
    if (!made.ok()) return ReportError(kTool, made.status(), source.get());
    out += *made;
  }
  times.print_s += watch.Take();
  return kExitDone;
}

absl::Status WriteTimes(const std::string& path, const Times& times) {
  JsonObject json;
  json.Add("parse_s", times.parse_s);
  json.Add("verify_s", times.verify_s);
  json.Add("passes_s", times.passes_s);
  json.Add("print_s", times.print_s);
  json.Add("peak_rss_mib", PeakRssMib());
  return AtomicWriteFile(path, json.Text());
}

}  // namespace

int RunHloOpt(const OptOptions& o) {
  EndOnSignals(kTool.data(), /*time_limit_s=*/0);
  if (o.list_passes) return ReportError(kTool, AtomicWriteFile("-", PassList()));
  if (o.list_stages) return ReportError(kTool, AtomicWriteFile("-", StageList()));
  const auto format = FormatOptions(o.format);
  if (!format.ok()) return ReportError(kTool, format.status());
  if (absl::Status stage = CheckStage(o); !stage.ok()) return ReportError(kTool, stage);
  const auto passes = PassSpecOf(o);
  if (!passes.ok()) return ReportError(kTool, passes.status());
  if (o.print_pipeline) {
    const auto text = PipelineText(*passes);
    return ReportError(kTool, text.ok() ? AtomicWriteFile("-", *text) : text.status());
  }
  auto source = ReadSource(o.input);
  if (!source.ok()) return ReportError(kTool, source.status());

  std::string out;
  Times times;
  using Sources = std::vector<std::shared_ptr<const SourceFile>>;
  for (const auto& piece : o.split_input_file ? Split(*source) : Sources{*source})
    if (const int status = Process(o, *passes, *format, piece, out, times); status != kExitDone)
      return status;
  if (absl::Status written = AtomicWriteFile(o.output, out); !written.ok())
    return ReportError(kTool, written);
  return o.json.empty() ? kExitDone : ReportError(kTool, WriteTimes(o.json, times));
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
