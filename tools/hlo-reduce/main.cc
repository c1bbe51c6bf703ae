// hlo-reduce: makes a module that shows a fault small.
#include <algorithm>
#include <cstdio>
#include <thread>

#include "CLI/CLI.hpp"
#include "absl/strings/str_cat.h"
#include "analysis/module_size.h"
#include "printer/whole_text.h"
#include "proto/proto_file.h"
#include "support/file.h"
#include "support/status.h"
#include "tools/common/command.h"
#include "tools/common/dump_folder.h"
#include "tools/common/exit_status.h"
#include "tools/common/flags.h"
#include "tools/common/inputs.h"
#include "tools/common/load.h"
#include "tools/common/report.h"
#include "tools/common/signals.h"
#include "tools/hlo-reduce/given_values.h"
#include "tools/hlo-reduce/reducer.h"

namespace hlokit {
namespace {

constexpr char kTool[] = "hlo-reduce";
constexpr char kExamples[] = R"(Examples:
  hlo-reduce crash.hlo --test='./still-crashes.sh'           exit status 0: the fault shows
  hlo-reduce crash.hlo --script='my-compiler'                any failure of it is the fault
  hlo-reduce a.hlo --run='hlo-run --platform=cpu' --exit=2 --message='is not known'
  hlo-reduce a.hlo --mismatch=cpu,interpreter --input=in.npz
  hlo-reduce a.hlo --passes='my-pass,dce'                    passes that break the module or its values

The smallest module so far stands in the output file at any time.
Exit status: 0 done; 2 bad flags or module, or one that does not show the fault.)";

constexpr double kLeastTimeLimit = 2;  // seconds
constexpr double kPartTimeLimit = 20;

struct ReduceFlags {
  std::string input, output;
  std::string test, script, run, mismatch, passes;
  std::vector<std::string> plugins;  // for the tools that --passes and --mismatch run
  InputOptions values;               // what --passes and --mismatch evaluate on
  LoadOptions load;
  InterestOptions interest;
  ReduceOptions reduce;
  bool quiet = false;
  std::string output_folder;  // instead of the input's
  std::string output_format = "text";
  double abs_error = -1, rel_error = -1;  // of --passes and --mismatch; below 0: the tools' own
};

bool Parse(int argc, const char* const* argv, ReduceFlags& o, int& exit_status) {
  CLI::App app("Makes an HLO module smaller for as long as a command still finds its fault.",
               kTool);
  o.reduce.jobs = static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
  app.add_option("input", o.input, "HLO text or protobuf")->required()->type_name("FILE");
  app.add_option("-o,--output", o.output, "where the small module goes (FILE.reduced.hlo)")
      ->type_name("FILE");
  app.add_option("--output-folder", o.output_folder, "for it, under the input's name")
      ->type_name("FOLDER");
  app.add_option("--output-format", o.output_format, "text, pb, pbtxt or json")
      ->check(CLI::IsMember({"text", "pb", "pbtxt", "json"}));
  app.add_option(
         "--input-format", o.load.input_format,
         "text (hlo, txt), pb, pbtxt, json or stablehlo (mlir), whatever the file looks like")
      ->transform(ModuleFormat());
  auto* what = app.add_option_group("What shows the fault (one of these)");
  what->add_option("--test", o.test, "the command exits with 0; {} is the module's file")
      ->type_name("COMMAND");
  what->add_option("--script", o.script, "the command fails")->type_name("COMMAND");
  what->add_option("--run", o.run, "the command ends with --exit")->type_name("COMMAND");
  what->add_option("--mismatch", o.mismatch, "results on two platforms differ")->type_name("A,B");
  what->add_option("--passes", o.passes, "hlo-opt's passes break the module or its values")
      ->type_name("A,B");
  what->require_option(1);
  AddPluginFlag(app, o.plugins);
  AddInputFlags(app, o.values);
  app.add_option("--exit", o.interest.exit_status, "the exit status of --run that is the fault");
  app.add_option("--message", o.interest.message, "and what the command prints matches this")
      ->type_name("REGEX");
  app.add_option("--abs-error", o.abs_error,
                 "of --mismatch and --passes: the largest absolute error that passes")
      ->check(NotNegative());
  app.add_option("--rel-error", o.rel_error, "the largest relative error that passes")
      ->check(NotNegative());
  app.add_option("--test-time-limit", o.interest.time_limit_s,
                 "seconds for a command (ten times what the first run took)")
      ->check(Positive());
  app.add_option("--time-limit", o.reduce.time_limit_s, "seconds for the whole search")
      ->check(Positive());
  app.add_option("-j,--jobs", o.reduce.jobs, "commands that run at a time")
      ->check(CLI::Range(1, 1024));
  app.add_flag("-q,--quiet", o.quiet, "do not tell of each step");
  app.add_flag("--allow-unknown-attributes", o.load.allow_unknown_attributes,
               "keep attributes that this version does not know, with a warning");
  if (!ParseToolFlags(app, argc, argv, kExamples, exit_status)) return false;
  if (const absl::Status status = CheckInputOptions(o.values); !status.ok()) {
    exit_status = ReportError(kTool, status);
    return false;
  }
  return true;
}

// The flags of inputs and bounds for the tools that --passes and --mismatch run; each module has a
// file of its own of those that are given.
std::string InputWords(const ReduceFlags& o) {
  InputOptions others = o.values;
  others.inputs.clear();
  std::string words;
  for (const std::string& flag : InputFlags(others)) absl::StrAppend(&words, " ", flag);
  if (!o.values.inputs.empty()) words += " --input={inputs}";
  if (o.abs_error >= 0) absl::StrAppend(&words, " --abs-error=", o.abs_error);
  if (o.rel_error >= 0) absl::StrAppend(&words, " --rel-error=", o.rel_error);
  return words;
}

absl::Status ChooseTest(ReduceFlags& o) {
  InterestOptions& interest = o.interest;
  const std::string folder = FolderOfProgram();
  std::string plugins;
  for (const std::string& plugin : o.plugins)
    absl::StrAppend(&plugins, " ", ShellWord("--load-pass-plugin=" + plugin));
  if (!o.test.empty()) {
    interest.command = o.test;
  } else if (!o.script.empty()) {
    interest.command = o.script;
    interest.any_failure = true;
  } else if (!o.run.empty()) {
    interest.command = o.run;
  } else if (!o.passes.empty()) {
    interest.command =
        absl::StrCat(folder, "/hlo-opt {}", plugins, " ", ShellWord("--passes=" + o.passes),
                     InputWords(o), " --verify-each=interp --reproducer=/dev/null -o /dev/null");
    interest.any_failure = true;
    if (interest.message.empty()) interest.message = "changed values|internal error|is broken";
  } else {
    const std::vector<std::string> platforms = SplitCommas(o.mismatch);
    if (platforms.size() != 2) return InvalidArgument("--mismatch takes two platforms, A,B");
    interest.command =
        absl::StrCat(folder, "/hlo-run {}", plugins, InputWords(o), " --platform=", platforms[0],
                     " --reference-platform=", platforms[1]);
    interest.exit_status = kExitCheckFailed;
  }
  return absl::OkStatus();
}

// --input: values for the parameters of what is left of the module. Null where none are given.
absl::StatusOr<std::unique_ptr<const GivenValues>> RecordInputs(ReduceFlags& o,
                                                                const Module& module) {
  if (o.values.inputs.empty()) return nullptr;
  ASSIGN_OR_RETURN(GivenValues recorded, GivenValues::Record(module, o.values));
  auto given = std::make_unique<const GivenValues>(std::move(recorded));
  o.interest.write_inputs = [values = given.get()](const Module& part, const std::string& path) {
    return values->Write(part, path);
  };
  return given;
}

// The smallest module so far, and next to it the inputs that show its fault.
absl::Status WriteOut(const ReduceFlags& o, const Module& module) {
  std::string text;
  if (o.output_format == "text") {
    text = WholeText(module);
  } else {
    const ProtoEncoding encoding = o.output_format == "pb"      ? ProtoEncoding::kBinary
                                   : o.output_format == "pbtxt" ? ProtoEncoding::kText
                                                                : ProtoEncoding::kJson;
    ASSIGN_OR_RETURN(text, WriteModuleProto(module, encoding));
  }
  RETURN_IF_ERROR(AtomicWriteFile(o.output, text));
  if (o.interest.write_inputs == nullptr) return absl::OkStatus();
  return o.interest.write_inputs(module, o.output + ".npz");
}

absl::Status ReduceTo(ReduceFlags& o, std::unique_ptr<Module> module) {
  if (o.values.elided_constants != "refuse")
    RETURN_IF_ERROR(FillElidedConstants(*module, o.values).status());
  RETURN_IF_ERROR(ChooseTest(o));
  ASSIGN_OR_RETURN(const std::unique_ptr<const GivenValues> given, RecordInputs(o, *module));
  ASSIGN_OR_RETURN(const std::unique_ptr<Interest> interest, Interest::Make(o.interest));
  const bool chosen_limit = o.interest.time_limit_s > 0;
  // The built-in tests compute values, which large modules have too many of.
  const bool computes = !o.passes.empty() || !o.mismatch.empty();
  if (computes && !chosen_limit) interest->set_time_limit(o.reduce.time_limit_s / 5);
  const Stopwatch watch;
  ASSIGN_OR_RETURN(const bool shows, interest->Holds(*module, WholeText(*module)));
  const double limit = shows ? 10 * watch.Seconds() : kPartTimeLimit;
  if (!chosen_limit) interest->set_time_limit(std::max(kLeastTimeLimit, limit));
  const std::string refusal =
      shows ? ""
            : absl::StrCat("the module does not show the fault: '", o.interest.command,
                           "' ended with ", interest->last_output());
  if (!shows && !computes) return InvalidArgument(refusal);
  const int64_t before = InstructionCount(*module);
  o.reduce.smaller = [&](const Module& smaller, absl::string_view what) {
    if (!o.quiet)
      std::fprintf(stderr, "%s: %lld instructions after %lld runs (%.*s)\n", kTool,
                   static_cast<long long>(InstructionCount(smaller)),
                   static_cast<long long>(interest->runs()), static_cast<int>(what.size()),
                   what.data());
    return WriteOut(o, smaller);
  };
  if (!shows && !o.quiet)
    std::fprintf(stderr, "%s: the whole does not show the fault; looking at parts\n", kTool);
  ASSIGN_OR_RETURN(const auto reduced,
                   (shows ? Reduce : ReduceParts)(std::move(module), *interest, o.reduce));
  if (reduced == nullptr) return InvalidArgument(refusal, "nor does a part of it");
  std::fprintf(stderr, "%s: %lld of %lld instructions are left, after %lld runs: %s\n", kTool,
               static_cast<long long>(InstructionCount(*reduced)), static_cast<long long>(before),
               static_cast<long long>(interest->runs()), o.output.c_str());
  return WriteOut(o, *reduced);
}

int Run(ReduceFlags& o) {
  EndOnSignals(kTool, /*time_limit_s=*/0);
  if (o.output.empty()) {
    const size_t folder = o.output_folder.empty() ? 0 : o.input.rfind('/') + 1;
    o.output =
        absl::StrCat(o.output_folder, o.output_folder.empty() ? "" : "/", o.input.substr(folder),
                     ".reduced.", o.output_format == "text" ? "hlo" : o.output_format);
  }
  if (!o.output_folder.empty())
    if (const absl::Status made = MakeFolder(o.output_folder); !made.ok())
      return ReportError(kTool, made);
  int exit_status = kExitDone;
  auto loaded = LoadFile(kTool, o.input, o.load, exit_status);
  if (!loaded) return exit_status;
  return ReportError(kTool, ReduceTo(o, std::move(loaded->module)));
}

}  // namespace
}  // namespace hlokit

int main(int argc, char** argv) {
  hlokit::ReduceFlags options;
  int exit_status = 0;
  if (!hlokit::Parse(argc, argv, options, exit_status)) return exit_status;
  return hlokit::Run(options);
}
// SPDX-License-Identifier: Apache-2.0
