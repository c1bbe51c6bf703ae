// The work of hlo-viz: reads, selects, draws, writes.
#include <cstdio>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "support/file.h"
#include "support/status.h"
#include "tools/common/dump_folder.h"
#include "tools/common/exit_status.h"
#include "tools/common/load.h"
#include "tools/common/split.h"
#include "tools/hlo-viz/formats/dot.h"
#include "tools/hlo-viz/formats/graphviz.h"
#include "tools/hlo-viz/graph/overview.h"
#include "tools/hlo-viz/options.h"
#include "tools/hlo-viz/pages.h"
#include "tools/hlo-viz/repl.h"
#include "tools/hlo-viz/select.h"
#include "tools/hlo-viz/serve.h"

namespace hlokit {
namespace {

constexpr absl::string_view kTool = "hlo-viz";
// Graphviz takes about 5 s for so many nodes, and its time grows with their square; so it does with
// what long edges pass.
constexpr size_t kMaxLaidOut = 2000;
constexpr int64_t kMaxPlaced = 100'000;

// --format, else what the ending of the output's name says.
absl::StatusOr<std::string> FormatOf(const VizOptions& o) {
  if (!o.format.empty()) return o.format;
  if (o.output == "-") return std::string("dot");
  const size_t dot = o.output.rfind('.');
  const std::string ending =
      dot == std::string::npos ? "" : absl::AsciiStrToLower(o.output.substr(dot + 1));
  for (absl::string_view known : {"dot", "svg", "png", "pdf", "html"})
    if (ending == known) return ending;
  if (ending == "gv") return std::string("dot");
  return InvalidArgument(
      "'", o.output, "' does not end in .dot, .svg, .png, .pdf or .html; --format names a format");
}

absl::StatusOr<SideInputs> ReadSideInputs(const VizOptions& o) {
  SideInputs side;
  if (!o.profile.empty()) {
    ASSIGN_OR_RETURN(side.times, ReadProfile(o.profile));
  }
  if (!o.diff_with.empty()) {
    ASSIGN_OR_RETURN(auto source, ReadSource(o.diff_with));
    ASSIGN_OR_RETURN(LoadedModule loaded, LoadModule(std::move(source), LoadOptionsOf(o)));
    side.other = std::move(loaded.module);
  }
  return side;
}

bool IsTooLarge(const Drawing& drawing) {
  return drawing.nodes.size() > kMaxLaidOut || PlacedNodes(drawing) > kMaxPlaced;
}

// One module as a picture: select, mark, draw, then let Graphviz lay it out. What is too large for
// Graphviz becomes an overview of scopes.
absl::StatusOr<std::string> Picture(const Module& module, const VizOptions& o,
                                    const SideInputs& side, const std::string& format) {
  const ModuleIndex index(module);
  ASSIGN_OR_RETURN(const Selection selection, Select(index, o));
  ASSIGN_OR_RETURN(const Overlay overlay, MakeOverlay(index, o.color_by, side.View()));
  if (const std::string note = ProfileNote(index, side.times); !note.empty())
    std::fprintf(stderr, "hlo-viz: note: %s\n", note.c_str());
  const Computation* whole = WholeComputation(index, o);
  if (o.overview && whole == nullptr)
    return InvalidArgument("--overview is of a whole module or --computation");
  const bool many = selection.instructions.size() > kMaxLaidOut && !o.force;
  bool overview = whole != nullptr && (o.overview || many);
  Drawing drawing;
  if (!overview) {
    drawing = Draw(index, selection, o.draw, overlay);
    overview = whole != nullptr && format != "dot" && !o.force && IsTooLarge(drawing);
  }
  if (overview && !o.overview)
    std::fprintf(stderr,
                 "hlo-viz: note: there are %zu instructions%s; drawn is an overview of their "
                 "scopes (--force draws all)\n",
                 selection.instructions.size(), many ? "" : " with long edges");
  if (overview) drawing = DrawOverview(index, ScopeTree(index), *whole, overlay, o.nodes);
  const std::string dot = DotText(drawing);
  if (format == "dot") return dot;
  if (IsTooLarge(drawing) && !o.force)
    return InvalidArgument(drawing.nodes.size(),
                           " nodes and their edges are more than Graphviz lays out in seconds: "
                           "draw a part (--computation, --instruction), write .dot, "
                           "or wait (--force)");
  return Render(dot, format);
}

// a.svg for the first module, a.1.svg for the second, ...
std::string NumberedName(const std::string& path, size_t number) {
  const size_t dot = path.rfind('.');
  if (number == 0 || path == "-" || dot == std::string::npos) return path;
  return absl::StrCat(path.substr(0, dot), ".", number, path.substr(dot));
}

// A dump folder becomes one page.
int DrawDump(const VizOptions& o, const SideInputs& side, const std::string& format) {
  if (format != "html")
    return ReportError(kTool, InvalidArgument(o.input,
                                              " is a folder, of which there is a page: "
                                              "-o FILE.html, or --serve"));
  const auto page = DumpPages(o, side).Make();
  return ReportError(kTool, page.ok() ? AtomicWriteFile(o.output, *page) : page.status());
}

int Converse(const VizOptions& o) {
  if (o.input == "-")
    return ReportError(kTool,
                       InvalidArgument("--repl reads commands from standard input: name a file"));
  int exit_status = kExitDone;
  const auto loaded = LoadFile(kTool, o.input, LoadOptionsOf(o), exit_status);
  if (!loaded) return exit_status;
  return RunRepl(ModuleIndex(*loaded->module), o);
}

// One picture for each module of the input, numbered from the second on.
int DrawAll(const VizOptions& o, const SideInputs& side, const std::string& format) {
  auto source = ReadSource(o.input);
  if (!source.ok()) return ReportError(kTool, source.status());
  const bool split =
      o.split_input_file && !EncodingOf((*source)->name(), (*source)->text(), o.input_format);
  std::vector<std::shared_ptr<const SourceFile>> pieces = {*source};
  if (split) pieces = SplitSource(*source);
  for (size_t k = 0; k < pieces.size(); ++k) {
    auto loaded = LoadModule(pieces[k], LoadOptionsOf(o));
    if (!loaded.ok()) return ExitStatusOf(loaded.status());
    auto picture = format == "html" ? ModulePage(*loaded->module, o, side)
                                    : Picture(*loaded->module, o, side, format);
    if (!picture.ok()) return ReportError(kTool, picture.status());
    if (absl::Status written = AtomicWriteFile(NumberedName(o.output, k), *picture); !written.ok())
      return ReportError(kTool, written);
  }
  return kExitDone;
}

}  // namespace

int RunHloViz(const VizOptions& o) {
  if (o.repl) return Converse(o);
  auto format = FormatOf(o);
  if (!format.ok()) return ReportError(kTool, format.status());
  auto side = ReadSideInputs(o);
  if (!side.ok()) return ReportError(kTool, side.status());
  if (o.serve) return ReportError(kTool, Serve(o, *side));
  return IsFolder(o.input) ? DrawDump(o, *side, *format) : DrawAll(o, *side, *format);
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
