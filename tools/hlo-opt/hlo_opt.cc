// The work of hlo-opt: each module of the input is read, verified, transformed and printed.
#include <unistd.h>

#include <algorithm>
#include <ctime>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "passes/calls/module_splitter.h"
#include "passes/plugin.h"
#include "passes/rewrite/extract.h"
#include "printer/printer.h"
#include "printer/whole_text.h"
#include "stablehlo/write/pretty_text.h"
#include "stablehlo/write/writer.h"
#include "support/file.h"
#include "support/status.h"
#include "support/text.h"
#include "tools/common/dump_folder.h"
#include "tools/common/exit_status.h"
#include "tools/common/expected_messages.h"
#include "tools/common/inputs.h"
#include "tools/common/literal_files.h"
#include "tools/common/load.h"
#include "tools/common/messages.h"
#include "tools/common/report.h"
#include "tools/common/signals.h"
#include "tools/common/split.h"
#include "tools/hlo-opt/bisect.h"
#include "tools/hlo-opt/crash_watch.h"
#include "tools/hlo-opt/dump_folder.h"
#include "tools/hlo-opt/options.h"
#include "tools/hlo-opt/pass_spec.h"
#include "tools/hlo-opt/reproducer.h"
#include "tools/hlo-opt/stages.h"
#include "tools/hlo-opt/stats.h"
#include "tools/hlo-opt/summary.h"
#include "tools/hlo-opt/transform.h"
#include "tools/hlo-opt/xla_dump.h"
#include "types/literal_text.h"

namespace hlokit {
namespace {

struct Times {
  double parse_s = 0, verify_s = 0, passes_s = 0, print_s = 0;
  double load_cpu_s = 0, print_cpu_s = 0;  // of the processor: reading and verifying; printing
  std::vector<PassRun> passes;             // of all modules, one after the other
  int64_t modules = 0;                     // that have been read
};

double CpuSeconds() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

// Text with these options, or protobuf.
struct OutputFormat {
  PrintOptions text;
  std::optional<ProtoEncoding> proto;
};

constexpr absl::string_view kHloProto = "hlo-proto";  // of --emit-proto

// An HloProto in protobuf's text, of its module's. Comments stay at the beginning.
std::string InHloProto(absl::string_view module) {
  std::string comments, text;
  for (const absl::string_view line : absl::StrSplit(module, '\n', absl::SkipEmpty())) {
    const bool is_comment = line[0] == '#';
    absl::StrAppend(is_comment ? &comments : &text, is_comment ? "" : "  ", line, "\n");
  }
  return absl::StrCat(comments, "hlo_module {\n", text, "}\n");
}

bool IsStablehlo(absl::string_view format) {
  return format == "stablehlo" || format == "stablehlo-pretty";
}

absl::StatusOr<ProtoEncoding> ProtoEncodingOf(const OptOptions& o) {
  if (o.split_input_file)
    return InvalidArgument("--format=", o.format,
                           " is for one module, --split-input-file for several");
  if (!IsHloStage(o.stage))
    return InvalidArgument("--format=", o.format, " is for modules, which --stage=", o.stage,
                           " does not give");
  if (o.format == "pb") return ProtoEncoding::kBinary;
  return o.format == "json" ? ProtoEncoding::kJson : ProtoEncoding::kText;
}

PrintOptions TextOptions(const OptOptions& o) {
  PrintOptions options;
  if (o.format == "short") options = PrintOptions::Short();
  if (o.format == "canonical") options = PrintOptions::Canonical();
  if (o.format == "fingerprint") options = PrintOptions::Fingerprint();
  // XLA's default elides large constants; a file that could not be run again would lose them.
  if (o.format == "text" && o.output != "-") options.large_constants = true;
  for (const auto& [row, on] : o.print_switches) options.*row->member = on;
  if (o.indent_amount >= 0) options.indent_amount = o.indent_amount;
  if (o.operand_index_every >= 0) options.operand_index_every = o.operand_index_every;
  return options;
}

// The options of the output, checked before any work.
absl::StatusOr<OutputFormat> FormatOf(const OptOptions& o) {
  OutputFormat format{TextOptions(o), {}};
  if (!o.simulate.topology.empty() && (o.format != "text" || !IsHloStage(o.stage) || o.hash))
    return InvalidArgument(
        "--simulate gives a report, no module: leave out --format, --stage, --hash");
  if (o.simulate.topology.empty() && !o.simulate.what_if.empty())
    return InvalidArgument("--what-if changes the topology of --simulate");
  if (IsStablehlo(o.format) && !IsHloStage(o.stage))
    return InvalidArgument("--format=", o.format, " is for modules, which --stage=", o.stage,
                           " does not give");
  if (o.format == "pb" || o.format == "pbtxt" || o.format == "json" || o.format == kHloProto) {
    ASSIGN_OR_RETURN(format.proto, ProtoEncodingOf(o));
  }
  return format;
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

// Of the text that a compiler's cache would go by: the same for modules that are equal but for
// names and metadata, on every machine.
std::string HashOf(const Module& module) {
  PrintOptions options = PrintOptions::Fingerprint();
  options.canonical_names = true;
  options.metadata = options.original_values = false;
  options.sugar_async = false;  // which does not tell operands apart
  options.backend_config = true;
  options.large_constants = true;
  options.essential_constants = false;
  options.operand_shapes = false;  // of a wide tuple they would stand at each of its parts
  return absl::StrCat(absl::Hex(HashText(Print(module, options)), absl::kZeroPad16));
}

// --reproduce=PASS@STEPS, which the crash watch asks for.
absl::Status Reproduce(Module& module, const std::string& passes, OptOptions o) {
  const size_t at = o.reproduce.rfind('@');
  PassMoment moment{o.reproduce.substr(0, at), 0};
  if (at == std::string::npos ||
      !absl::SimpleAtoi(o.reproduce.substr(at + 1), &moment.steps_before))
    return InvalidArgument("--reproduce takes PASS@STEPS");
  o.command.clear();
  const std::string made = WriteReproducerAt(module, passes, moment, o.reproduce_note, o);
  return absl::StartsWith(made, " (see") ? absl::OkStatus() : Internal(made);
}

// The text that goes to a file keeps all of the module, but for what flags say.
std::string TextOf(const Module& module, const OptOptions& o, PrintOptions options) {
  const bool whole = o.format == "text" && o.output != "-";
  const bool chosen = std::any_of(
      o.print_switches.begin(), o.print_switches.end(),
      [](const auto& given) { return given.first->member == &PrintOptions::sugar_async; });
  if (whole && !chosen) options.sugar_async = WholeOptions(module).sugar_async;
  return Print(module, options);
}

// What evaluations need of a module that has just been read: values of elided constants, and the
// arguments that a snapshot holds where no others are given.
absl::Status PrepareToEvaluate(OptOptions& o, LoadedModule& loaded) {
  if (!o.evaluates()) return absl::OkStatus();
  if (loaded.is_snapshot && o.inputs.inputs.empty() && o.input != "-") {
    o.inputs.inputs = {o.input};
    o.inputs.input_format = "pb";
  }
  return FillElidedConstants(*loaded.module, o.inputs).status();
}

// --split-to: FOLDER/NAME.hlo for each call that hlo-module-splitter marked.
absl::Status WriteParts(const Module& module, const std::string& folder) {
  if (folder.empty()) return absl::OkStatus();
  RETURN_IF_ERROR(MakeFolder(folder));
  for (const Computation* c : module.Computations())
    for (const Instruction* i : c->Instructions())
      for (const auto& [key, name] : i->extras().frontend_attributes) {
        if (key != kModuleMark || i->opcode() != Opcode::kCall) continue;
        ASSIGN_OR_RETURN(const auto part, ExtractComputation(*i->to_apply()));
        part->set_name(name);
        const std::string file = absl::StrReplaceAll(name, {{"/", "_"}});
        RETURN_IF_ERROR(AtomicWriteFile(absl::StrCat(folder, "/", file, ".hlo"), WholeText(*part)));
      }
  return absl::OkStatus();
}

// --format=literal: the values of a protobuf file of literals, a line each.
absl::Status PrintLiterals(const OptOptions& o) {
  ASSIGN_OR_RETURN(const LiteralFile literals, ReadLiterals(o.input));
  std::string text;
  for (const Literal& argument : literals.arguments) absl::StrAppend(&text, Text(argument), "\n");
  if (literals.result) absl::StrAppend(&text, Text(*literals.result), "\n");
  return AtomicWriteFile(o.output, text);
}

// A module of a file as it was loaded, and how it is loaded once more.
struct Piece {
  absl::StatusOr<LoadedModule> loaded;
  Reload again;
};

// Transforms and prints one module. Returns the exit status; errors have been printed.
int Process(OptOptions o, const std::string& passes, const OutputFormat& format,
            const std::shared_ptr<const SourceFile>& source, Piece piece, std::string& out,
            Times& times) {
  auto& loaded = piece.loaded;
  if (!loaded.ok()) return ExitStatusOf(loaded.status());
  times.parse_s += loaded->parse_s;
  times.verify_s += loaded->verify_s;
  o.module_number = times.modules++;
  o.for_passes_only = loaded->for_passes_only;
  Stopwatch watch;
  if (absl::Status status = PrepareToEvaluate(o, *loaded); !status.ok())
    return ReportError(kTool, status, source.get());
  if (absl::Status status = CutOut(o, loaded->module); !status.ok())
    return ReportError(kTool, status, source.get());
  if (!o.reproduce.empty()) return ReportError(kTool, Reproduce(*loaded->module, passes, o));
  if (!o.bisect.empty())
    return ReportError(kTool, BisectPasses(*loaded->module, passes, o), source.get());
  const Reload reload = [&]() -> absl::StatusOr<std::unique_ptr<Module>> {
    ASSIGN_OR_RETURN(std::unique_ptr<Module> fresh, piece.again());
    if (o.evaluates()) RETURN_IF_ERROR(FillElidedConstants(*fresh, o.inputs).status());
    RETURN_IF_ERROR(CutOut(o, fresh));
    return fresh;
  };
  const XlaDump dump(o);
  if (absl::Status status = dump.Before(*loaded->module); !status.ok())
    return ReportError(kTool, status);
  if (absl::Status status = Transform(*loaded->module, passes, o, reload, times.passes);
      !status.ok())
    return ReportError(kTool, status, source.get());
  if (absl::Status status = dump.After(*loaded->module); !status.ok())
    return ReportError(kTool, status);
  times.passes_s += watch.Take();
  if (absl::Status status = WriteParts(*loaded->module, o.split_to); !status.ok())
    return ReportError(kTool, status);
  if (o.explains_alone()) return kExitDone;
  const double cpu = CpuSeconds();
  if (!out.empty()) absl::StrAppend(&out, kSplitLine, "\n");
  if (o.hash) {
    absl::StrAppend(&out, HashOf(*loaded->module), "\n");
  } else if (format.proto) {
    auto made = WriteModuleProto(*loaded->module, *format.proto, loaded->unknown_fields.get());
    if (!made.ok()) return ReportError(kTool, made.status());
    out = o.format == kHloProto ? InHloProto(*made) : *std::move(made);
  } else if (!o.simulate.topology.empty()) {
    const auto made = SimulationText(*loaded->module, o.simulate);
    if (!made.ok()) return ReportError(kTool, made.status(), source.get());
    out += *made;
  } else if (IsStablehlo(o.format)) {
    auto made = WriteStablehlo(*loaded->module, o.stablehlo);
    if (made.ok() && o.format == "stablehlo-pretty")
      made = PrettyStablehlo(*made, o.stablehlo.importer_forms);
    if (!made.ok()) return ReportError(kTool, made.status(), source.get());
    out += *made;
  } else if (IsSummary(o.format) && IsHloStage(o.stage)) {
    out += SummaryOf(*loaded->module, o.format);
  } else if (IsHloStage(o.stage)) {
    std::string text = TextOf(*loaded->module, o, format.text);
    out = out.empty() ? std::move(text) : absl::StrCat(out, text);
  } else {
    const auto made = RunStage(*loaded->module, o);
    if (!made.ok()) return ReportError(kTool, made.status(), source.get());
    out += *made;
  }
  times.print_s += watch.Take();
  times.print_cpu_s += CpuSeconds() - cpu;
  return kExitDone;
}

// Reads, verifies, transforms and prints the module of a source, or those of a file of several
// StableHLO programs: there what is printed of the others stands whatever is wrong with one.
int ProcessAll(const OptOptions& o, const std::string& passes, const OutputFormat& format,
               const std::shared_ptr<const SourceFile>& source, std::string& out, Times& times,
               bool& keep) {
  CrashWatch::AtModule(*source);
  LoadOptions load;
  load.verify = o.verify;
  load.allow_unknown_attributes = o.allow_unknown_attributes;
  load.input_format = o.input_format;
  load.for_passes = !passes.empty() && !o.evaluates() && IsHloStage(o.stage);
  const double cpu = CpuSeconds();
  auto all = LoadModules(source, load);
  times.load_cpu_s += CpuSeconds() - cpu;
  if (all.size() > 1 && format.proto)
    return ReportError(kTool, InvalidArgument(source->name(), " has ", all.size(),
                                              " programs; a protobuf file is one module"));
  load.quiet = true;
  int worst = kExitDone;
  for (size_t k = 0; k < all.size(); ++k) {
    const Reload again = [&, k]() -> absl::StatusOr<std::unique_ptr<Module>> {
      ASSIGN_OR_RETURN(LoadedModule fresh, std::move(LoadModules(source, load)[k]));
      return std::move(fresh.module);
    };
    worst =
        std::max(worst, Process(o, passes, format, source, {std::move(all[k]), again}, out, times));
  }
  keep = keep || (all.size() > 1 && !out.empty());
  return worst;
}

// The same, and --verify-diagnostics: the exit status says whether the messages are those that the
// text announces.
int ProcessAnnounced(const OptOptions& o, const std::string& passes, const OutputFormat& format,
                     const std::shared_ptr<const SourceFile>& source, std::string& out,
                     Times& times, bool& keep) {
  if (!o.verify_diagnostics) return ProcessAll(o, passes, format, source, out, times, keep);
  std::vector<ShownMessage> shown;
  KeepMessages(&shown);
  ProcessAll(o, passes, format, source, out, times, keep);
  KeepMessages(nullptr);
  return ReportError(kTool, CheckExpectedMessages(*source, shown));
}

absl::Status WriteTimes(const std::string& path, const Times& times) {
  JsonObject json;
  json.Add("parse_s", times.parse_s);
  json.Add("verify_s", times.verify_s);
  json.Add("passes_s", times.passes_s);
  json.Add("print_s", times.print_s);
  json.Add("load_cpu_s", times.load_cpu_s);
  json.Add("print_cpu_s", times.print_cpu_s);
  json.AddRaw("passes", PassesJson(times.passes));
  json.Add("peak_rss_mib", PeakRssMib());
  return AtomicWriteFile(path, json.Text());
}

// What looks at the passes of a dump folder, and what looks at one module, exclude each other.
absl::Status CheckFolderFlags(const OptOptions& o) {
  if (!IsFolder(o.input)) {
    if (o.between.empty() && !o.replay) return absl::OkStatus();
    return InvalidArgument("--between and --replay look at a dump folder, which ", o.input,
                           " is not");
  }
  if (o.passes.empty() && o.pipeline.empty()) return absl::OkStatus();
  return InvalidArgument(o.input, " is a dump folder: passes run on a module of it, by its file");
}

// Ends the names that --passes takes in the list that programs read.
constexpr char kEndOfPasses = '\f';

// Programs that read the list take XLA's line of names, as a whole for --passes, or a name a line:
// form feeds end lines for those, and no word for a shell.
std::string NamesForPrograms(absl::string_view names) {
  return absl::StrCat(absl::StripSuffix(names, "\n"), std::string(1, kEndOfPasses),
                      absl::StrReplaceAll(names, {{",", std::string(1, kEndOfPasses)}}));
}

}  // namespace

int RunHloOpt(const OptOptions& given) {
  EndOnSignals(kTool.data(), /*time_limit_s=*/0);
  if (absl::Status loaded = LoadPassPlugins(given.plugins); !loaded.ok())
    return ReportError(kTool, loaded);
  OptOptions o = given;
  o.passes = o.passes.substr(0, o.passes.find(kEndOfPasses));
  TakeXlaDisabled(o);
  if (!o.list_passes.empty()) {
    const bool is_auto = o.list_passes == "auto";
    const bool is_seen = is_auto && isatty(STDOUT_FILENO) != 0;
    std::string text = o.list_passes == "help" || is_seen ? PassList() : PassNames();
    if (is_auto && !is_seen) text = NamesForPrograms(text);
    return ReportError(kTool, AtomicWriteFile("-", text));
  }
  if (o.list_stages) return ReportError(kTool, AtomicWriteFile("-", StageList()));
  const auto format = FormatOf(o);
  if (!format.ok()) return ReportError(kTool, format.status());
  if (absl::Status stage = CheckStage(o); !stage.ok()) return ReportError(kTool, stage);
  const auto passes = PassSpecOf(o);
  if (!passes.ok()) return ReportError(kTool, passes.status());
  if (o.simulate.list) {
    const auto list = TopologyList();
    return ReportError(kTool, list.ok() ? AtomicWriteFile("-", *list) : list.status());
  }
  if (o.print_pipeline) {
    const auto text = PipelineText(*passes, o);
    return ReportError(kTool, text.ok() ? AtomicWriteFile("-", *text) : text.status());
  }
  if (absl::Status fits = CheckFolderFlags(o); !fits.ok()) return ReportError(kTool, fits);
  if (IsFolder(o.input)) return RunOnDumpFolder(o);
  if (o.format == "literal") return ReportError(kTool, PrintLiterals(o));
  CrashWatch::Start(o, *passes);
  auto source = ReadSource(o.input);
  if (!source.ok()) return ReportError(kTool, source.status());

  std::string out;
  Times times;
  using Sources = std::vector<std::shared_ptr<const SourceFile>>;
  const bool split =
      o.split_input_file && !EncodingOf((*source)->name(), (*source)->text(), o.input_format);
  int worst = kExitDone;  // every piece is reported on; one that fails keeps the output back
  bool keep = false;      // but for programs of StableHLO
  for (const auto& piece : split ? SplitSource(*source) : Sources{*source})
    worst = std::max(worst, ProcessAnnounced(o, *passes, *format, piece, out, times, keep));
  if (worst != kExitDone && !keep) return worst;
  if (o.explains_alone()) return kExitDone;
  if (absl::Status written = AtomicWriteFile(o.output, out); !written.ok())
    return ReportError(kTool, written);
  if (o.json.empty()) return worst;
  return std::max(worst, ReportError(kTool, WriteTimes(o.json, times)));
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
