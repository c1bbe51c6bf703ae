// Flags of hlo-opt, in groups: what the text holds, which passes run, what is told and checked
// about them, what evaluations use. Second names are those of XLA's hlo-opt.
#include "tools/hlo-opt/options.h"

#include "CLI/CLI.hpp"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "re2/re2.h"
#include "tools/common/command.h"
#include "tools/common/exit_status.h"
#include "tools/common/flags.h"
#include "tools/common/inputs.h"

namespace hlokit {
namespace {

constexpr char kExamples[] = R"(Examples:
  hlo-opt module.hlo                          verify, print as XLA prints
  hlo-opt module.hlo --passes=algsimp,dce     transform
  hlo-opt module.hlo --extract=add.5 --height=2  an instruction and what feeds it
  hlo-opt dump.txt --pipeline=cpu --print-changed -o out.hlo
  hlo-opt module.hlo --pipeline=cpu --verify-each=interp --input=in.npz  which pass changes values
  hlo-opt spmd.hlo --simulate=h100-pod --what-if=links.infiniband.bandwidth=2x
  some-dump | hlo-opt - --no-verify --format=short
  hlo-opt dump.hlo.pb --format=pbtxt          protobuf in and out

Exit status: 0 done; 1 a check failed; 2 bad flags, text or module; 3 a fault of hlo-opt.)";

std::string FlagOf(absl::string_view name) {
  return absl::StrCat("--", absl::StrReplaceAll(name, {{"_", "-"}}));
}

// A flag for each switch of the printer: --print-percent=false, or --no-print-percent.
void AddPrintFlags(CLI::App& app, OptOptions& o) {
  constexpr char kGroup[] = "What the text holds (--FLAG=false or --no-FLAG turns it off)";
  for (const PrintSwitch& row : PrintSwitches()) {
    const std::string flag = FlagOf(row.name);
    const std::string alias = row.alias.empty() ? "" : absl::StrCat(",", FlagOf(row.alias));
    app.add_flag_function(
           absl::StrCat(flag, alias, ",!--no-", flag.substr(2)),
           [&o, &row](int64_t count) { o.print_switches.emplace_back(&row, count > 0); },
           std::string(row.help))
        ->group(kGroup);
  }
  app.add_option("--indent-amount", o.indent_amount, "levels of two blanks before every line")
      ->check(CLI::Range(0, 1000))
      ->type_name("N")
      ->group(kGroup);
  app.add_option("--print-operand-index-annotation-interval", o.operand_index_every,
                 "/*index=N*/ before every Nth operand; 0: none")
      ->check(CLI::Range(0, 1000000))
      ->type_name("N")
      ->group(kGroup);
}

// Which passes run, and which of their steps.
void AddPassFlags(CLI::App& app, OptOptions& o) {
  AddPluginFlag(app, o.plugins);
  app.add_option("--passes", o.passes, "passes to run, comma-separated; --list-passes names them")
      ->type_name("A,B");
  app.add_option("--pipeline", o.pipeline, "a named list of passes, run before --passes")
      ->type_name("NAME");
  app.add_option("--disable-passes", o.disable_passes, "leave these passes out")
      ->delimiter(',')
      ->type_name("P");
  app.add_option("--xla-disable-hlo-passes", o.xla_disable_passes,
                 "the same; names of passes that hlo-opt lacks give a warning")
      ->delimiter(',')
      ->type_name("P");
  app.add_option("--enable-passes-only,--xla-enable-hlo-passes-only", o.enable_passes_only,
                 "leave all other passes out")
      ->delimiter(',')
      ->type_name("P");
  app.add_flag("--xla-disable-all-hlo-passes", o.disable_all_passes, "leave all passes out");
  app.add_option("--bisect-limit", o.bisect_limit,
                 "stop after so many steps: passes run and rewrites made; --stats counts them")
      ->check(NotNegative());
  app.add_option("--xla-fuel", o.fuel, "let a pass make at most N rewrites")
      ->delimiter(',')
      ->type_name("PASS=N");
}

// On what --verify-each=interp and --bisect evaluate, and what may differ.
void AddEvaluationFlags(CLI::App& app, OptOptions& o) {
  constexpr char kGroup[] = "What --verify-each=interp and --bisect evaluate on, as in hlo-run";
  const size_t before = app.get_options().size();
  AddInputFlags(app, o.inputs);
  app.add_option("--abs-error", o.bounds.abs_error, "two floats agree where one bound holds")
      ->check(NotNegative());
  app.add_option("--rel-error", o.bounds.rel_error, "of floats")->check(NotNegative());
  app.add_option("--ulps", o.bounds.ulps, "of floats")->check(NotNegative());
  const std::vector<CLI::Option*> options = app.get_options();
  for (size_t k = before; k < options.size(); ++k) options[k]->group(kGroup);
}

// What is told and checked about them.
void AddPassDebuggingFlags(CLI::App& app, OptOptions& o) {
  app.add_flag("--verify-each{structure}", o.verify_each,
               "verify after each pass; =interp: compare values before and after it too")
      ->check(CLI::IsMember({"structure", "interp"}));
  app.add_flag("--bisect{interp}", o.bisect,
               "name the first step after which values differ (or, =COMMAND: after which the "
               "command, given the module's file, fails)")
      ->type_name("COMMAND");
  app.add_option(
         "--reproducer", o.reproducer,
         "where the module goes that a pass fails on or breaks; a temporary file by default")
      ->type_name("FILE");
  app.add_option("--print-before", o.print_before, "print the module before these passes")
      ->delimiter(',')
      ->type_name("P");
  app.add_option("--print-after", o.print_after, "print the module after these passes")
      ->delimiter(',')
      ->type_name("P");
  CLI::Option* const dump_to =
      app.add_option("--dump-to", o.dump_to,
                     "a folder: write the module before the first pass and after each that changed "
                     "it, named as XLA names them; -: to standard output")
          ->type_name("FOLDER");
  app.add_option("--xla-dump-to", o.xla_dump_to,
                 "a folder: write what XLA's hlo-opt writes there, the module before and after all "
                 "passes and XLA's flags as they were given (.debug_options)")
      ->type_name("FOLDER")
      ->excludes(dump_to);
  app.add_option("--xla-dump-hlo-pass-re", o.xla_dump_pass_re,
                 "to the folder of --xla-dump-to, the module before and after passes of these "
                 "names, where they change it, too")
      ->type_name("REGEX")
      ->check([](const std::string& text) {
        const RE2 expression(text, RE2::Quiet);
        return expression.ok() ? "" : expression.error();
      });
  app.add_flag("--xla-dump-large-constants", o.xla_dump_large_constants,
               "constants of more than 10 elements in full in the files of --xla-dump-to");
  // What the reader of XLA's flags puts there.
  app.add_option("--xla-debug-options", o.xla_debug_options)->group("");
  app.add_flag("--print-after-all", o.print_after_all, "print the module after each pass");
  app.add_flag("--print-changed", o.print_changed, "print what each pass changed, as a diff");
  app.add_option("--explain", o.explain,
                 "print which passes and rules made, changed or removed this instruction; of two "
                 "(A,B), why they come into one fusion or do not")
      ->check([](const std::string& name) {
        return std::string(name.empty() ? "the name of an instruction is missing" : "");
      })
      ->type_name("NAME");
  app.add_option("--between", o.between,
                 "of a dump folder: what differs between two stages, by number or pass")
      ->delimiter(',')
      ->type_name("A,B");
  app.add_flag("--replay", o.replay,
               "of a dump folder: run our pass of each name, compare with what XLA's made");
  app.add_flag("--time-passes", o.time_passes, "print how long each pass took");
  app.add_flag("--stats", o.stats,
               "print what each pass did, and instructions, flops, bytes and peak memory after it");
}

// Which stage, in which form, or which list instead.
void AddFormFlags(CLI::App& app, OptOptions& o) {
  app.add_option("--stage", o.stage, "how far to go; --list-stages names the stages")
      ->type_name("NAME");
  app.add_option("--opt-level", o.opt_level, "0 to 3, of code generation")->check(CLI::Range(0, 3));
  app.add_option(
         "--format", o.format,
         "text, short, canonical, fingerprint; pb, pbtxt or json: an HloModuleProto; stablehlo, "
         "stablehlo-pretty; signature: what the entry takes and gives; operations: a line each, by "
         "types; literal: the values of a file that --input of hlo-run takes")
      ->check(
          CLI::IsMember({"text", "short", "canonical", "fingerprint", "hlo", "pb", "pbtxt", "json",
                         "stablehlo", "stablehlo-pretty", "signature", "operations", "literal"}));
  app.add_flag("--stablehlo-all-computations", o.stablehlo.all_computations,
               "of --format=stablehlo: each computation is a function, called or not");
  app.add_flag(
      "--stablehlo-importer-forms", o.stablehlo.importer_forms,
      "of --format=stablehlo: operations and module attributes as XLA's importer writes them");
  app.add_flag("--stablehlo-flat-entry", o.stablehlo.flatten_entry,
               "of --format=stablehlo: main takes and gives arrays rather than tuples");
  app.add_flag_callback(
      "--emit-proto", [&o] { o.format = "hlo-proto"; },
      "print an HloProto that holds the module, in protobuf's text");
  app.add_option(
         "--input-format", o.input_format,
         "text (hlo, txt), pb, pbtxt, json or stablehlo (mlir), whatever the file looks like")
      ->transform(ModuleFormat());
  app.add_flag("--hash", o.hash,
               "print a hash of the result instead of its text, blind to names and metadata");
  app.add_option(
         "--list-passes", o.list_passes,
         "print the passes: names, comma-separated as XLA's hlo-opt prints them, or help: a "
         "line each, with their options; without a value help on a terminal, else names")
      ->expected(0, 1)
      ->default_str("auto")
      ->check(CLI::IsMember({"auto", "names", "help"}))
      ->option_text("[names|help]");
  app.add_flag("--print-pipeline", o.print_pipeline,
               "print the passes that would run, a line each, and end");
  app.add_flag("--list-stages", o.list_stages, "print the stages, a line each");
}

// What a step of the module would take on many devices.
void AddSimulationFlags(CLI::App& app, OptOptions& o) {
  constexpr char kGroup[] = "What a step takes on many devices (docs/planning.md)";
  SimulateFlags& s = o.simulate;
  const auto add = [&](CLI::Option* option) { option->group(kGroup); };
  add(app.add_option("--simulate", s.topology,
                     "predict a step of the module, after --pipeline and --passes, on this machine "
                     "of many devices: a file, or a name of --list-topologies")
          ->type_name("TOPOLOGY"));
  add(app.add_option("--simulate-format", s.format,
                     "table, json, trace (for ui.perfetto.dev) or html")
          ->check(CLI::IsMember({"table", "json", "trace", "html"})));
  add(app.add_option("--what-if", s.what_if,
                     "change numbers of the topology: links.NAME.bandwidth=2x, device.memory=80e9")
          ->delimiter(',')
          ->type_name("NAME=VALUE"));
  add(app.add_option("--trips", s.trips, "iterations of loops whose number is not known")
          ->check(NotNegative()));
  add(app.add_option("--simulate-rows", s.rows, "instructions in the table")->check(NotNegative()));
  add(app.add_flag("--list-topologies", s.list, "print the topologies that are installed"));
}

}  // namespace

bool ParseOptOptions(int argc, const char* const* argv, OptOptions& o, int& exit_status) {
  CLI::App app("Reads an HLO module, verifies it, runs passes over it, and prints the result.",
               "hlo-opt");
  app.add_option(
         "input", o.input,
         "HLO text or protobuf, - for standard input, or a folder that --xla_dump_to filled")
      ->type_name("FILE");
  app.add_option("-o,--output", o.output, "where the result goes; appears whole or not at all")
      ->type_name("FILE");
  app.add_option("--extract,--instruction", o.extract,
                 "cut these instructions out first; their operands become parameters")
      ->delimiter(',')
      ->type_name("A,B");
  app.add_option("--height", o.extract_height,
                 "how many operands deep --extract reaches; -1: up to the parameters")
      ->check(CLI::Range(-1, 1000000));
  app.add_option("--platform", o.platform, "what --stage compiles for")
      ->transform(CLI::IsMember({"cpu", "gpu", "interpreter", "transforms"}, CLI::ignore_case));
  app.add_option("--gpu-arch", o.gpu_arch, "what --stage=ptx compiles for: sm_70 to sm_100 (sm_90)")
      ->type_name("ARCH");
  AddFormFlags(app, o);
  app.add_flag("!--no-verify", o.verify, "take the module as it is");
  app.add_flag("--allow-unknown-attributes", o.allow_unknown_attributes,
               "keep attributes that this version does not know, with a warning");
  app.add_option("--split-to", o.split_to,
                 "a folder: write each part that hlo-module-splitter marked there, as a module")
      ->type_name("FOLDER");
  app.add_flag("--split-input-file", o.split_input_file,
               "the file holds several modules between `// -----` lines");
  app.add_flag("--verify-diagnostics", o.verify_diagnostics,
               "check that errors and warnings are those that comments `// expected-error@+1 "
               "{{text}}` announce, and no others");
  app.add_option(
         "--json", o.json,
         "write parse_s, verify_s, passes_s, print_s, load_cpu_s, print_cpu_s, peak_rss_mib")
      ->type_name("FILE");
  AddPassFlags(app, o);
  AddPassDebuggingFlags(app, o);
  AddEvaluationFlags(app, o);
  AddSimulationFlags(app, o);
  AddPrintFlags(app, o);
  app.add_option("--reproduce", o.reproduce)->group("");
  app.add_option("--reproduce-note", o.reproduce_note)->group("");
  std::vector<std::string> words = {"hlo-opt"};
  for (int i = 1; i < argc; ++i) words.push_back(ShellWord(argv[i]));
  o.command = absl::StrJoin(words, " ");
  if (!ParseToolFlags(app, argc, argv, kExamples, exit_status)) return false;
  o.names_hlo_stage = app.count("--stage") > 0 && o.stage == "hlo" && app.count("--platform") > 0;
  if (const absl::Status status = CheckInputOptions(o.inputs); !status.ok()) {
    exit_status = ReportError("hlo-opt", status);
    return false;
  }
  return true;
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
