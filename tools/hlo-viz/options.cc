// Flags of hlo-viz, in two groups: what is drawn, and how. Second names are those of XLA's
// interactive_graphviz.
#include "tools/hlo-viz/options.h"

#include "CLI/CLI.hpp"
#include "tools/common/flags.h"

namespace hlokit {
namespace {

constexpr char kExamples[] = R"(Examples:
  hlo-viz module.hlo -o module.svg                   the whole module
  hlo-viz module.hlo -o module.html                  an explorer for modules of any size
  hlo-viz dump/ -o dump.html                         all passes of --xla_dump_to=dump
  hlo-viz module.hlo -o near.svg --instruction dot.5 --radius 3
  hlo-viz module.hlo -o paths.png --from p0 --to add.9
  hlo-viz module.hlo --computation body.2 | dot -Tx11
  hlo-viz module.hlo -o hot.svg --color-by=time --profile=times.json

Exit status: 0 done; 2 bad flags, text or module; 3 a fault of hlo-viz.)";

void AddSelectionFlags(CLI::App& app, VizOptions& o) {
  constexpr char kGroup[] = "What is drawn (the whole module, if none is given)";
  app.add_option("--computation", o.computation, "one computation and what it calls")
      ->type_name("NAME")
      ->group(kGroup);
  app.add_option("--instruction", o.instruction, "what is near an instruction")
      ->type_name("NAME")
      ->group(kGroup);
  app.add_option("--radius,--width", o.radius, "how many steps away is near")
      ->check(CLI::Range(0, 1000000))
      ->type_name("N")
      ->group(kGroup);
  app.add_option("--boundary", o.boundary, "instructions beyond which nothing is drawn")
      ->delimiter(',')
      ->type_name("A,B")
      ->group(kGroup);
  app.add_option("--from", o.from, "with --to: all paths between two instructions")
      ->type_name("NAME")
      ->group(kGroup);
  app.add_option("--to", o.to, "see --from")->type_name("NAME")->group(kGroup);
  app.add_option("--operands-of", o.operands_of,
                 "what an instruction is computed from, --radius deep")
      ->type_name("NAME")
      ->group(kGroup);
  app.add_option("--users-of", o.users_of, "what is computed from an instruction, --radius deep")
      ->type_name("NAME")
      ->group(kGroup);
}

void AddLookFlags(CLI::App& app, VizOptions& o) {
  constexpr char kGroup[] = "How it is drawn (--FLAG=false or --no-FLAG turns it off)";
  const auto flag = [&](const char* names, bool& target, const char* help) {
    app.add_flag(names, target, help)->group(kGroup);
  };
  flag("--constants,!--no-constants", o.draw.constants, "small constants as text in their users");
  flag("--expand-fusions,!--no-expand-fusions,--show-fusion-subcomputations", o.draw.expand_fusions,
       "fusions as boxes around what they compute");
  flag("--fold-tuple-elements,!--no-fold-tuple-elements", o.draw.fold_tuple_elements,
       "get-tuple-element as a label on edges");
  flag("--edge-shapes,!--no-edge-shapes", o.draw.edge_shapes, "shapes on edges");
  flag("--backend-config,!--no-backend-config,--show-backend-config", o.draw.backend_config,
       "backend_config in nodes");
  flag("--metadata,!--no-metadata,--show-metadata", o.draw.metadata,
       "text and sources as tooltips");
  app.add_option("--color-by", o.color_by,
                 "opcode, sharding, op_name, time, bytes, flops, memory-space or diff")
      ->type_name("WHAT")
      ->group(kGroup);
  app.add_option("--profile", o.profile,
                 "times, of hlo-run --profile=FILE.json or lines of name,seconds")
      ->type_name("FILE")
      ->group(kGroup);
  app.add_option("--diff-with", o.diff_with, "the module before, for --color-by=diff")
      ->type_name("FILE")
      ->group(kGroup);
}

}  // namespace

bool ParseVizOptions(int argc, const char* const* argv, VizOptions& o, int& exit_status) {
  CLI::App app("Draws HLO modules.", "hlo-viz");
  CLI::Option* input =
      app.add_option("input", o.input,
                     "HLO text or protobuf, - for standard input, or a folder of dumps")
          ->type_name("FILE");
  app.add_option("--hlo-text,--hlo-proto,--hlo-module-proto,--hlo-snapshot", o.input,
                 "the same, as interactive_graphviz has it")
      ->type_name("FILE")
      ->excludes(input);
  app.add_option("-o,--output", o.output, "where the picture goes; its ending names the format")
      ->type_name("FILE");
  app.add_option("--format", o.format, "dot, svg, png, pdf or html, whatever the output's name")
      ->check(CLI::IsMember({"dot", "svg", "png", "pdf", "html"}));
  app.add_flag(
      "--overview", o.overview,
      "draw scopes, the largest opened, of the module or --computation; so is what has more than "
      "2,000 instructions");
  app.add_option("--nodes", o.nodes, "about how many nodes an overview shows")
      ->check(CLI::Range(1, 100000));
  app.add_flag("--force", o.force, "draw every instruction, lay out graphs of any size");
  app.add_flag(
      "--serve", o.serve,
      "show a dump folder or a module to browsers of this machine, anew whenever it changes");
  app.add_option("--port", o.port, "of --serve; 0: any that is free")->check(CLI::Range(0, 65535));
  app.add_flag("--repl", o.repl, "read commands: list, info, allpaths, extract, stacktrace, help");
  app.add_option("--browser", o.browser, "a program that shows what --serve and --repl make")
      ->type_name("PROGRAM");
  AddSelectionFlags(app, o);
  AddLookFlags(app, o);
  app.add_option(
         "--input-format", o.input_format,
         "text (hlo, txt), pb, pbtxt, json or stablehlo (mlir), whatever the file looks like")
      ->transform(ModuleFormat());
  app.add_flag("!--no-verify", o.verify, "take the module as it is");
  app.add_flag("--allow-unknown-attributes", o.allow_unknown_attributes,
               "keep attributes that this version does not know, with a warning");
  app.add_flag("--split-input-file", o.split_input_file,
               "the file holds several modules between `// -----` lines: one picture each");
  return ParseToolFlags(app, argc, argv, kExamples, exit_status);
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
