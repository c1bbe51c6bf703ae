// Calls of libcgraph and libgvc.
#include "tools/hlo-viz/formats/graphviz.h"

#include <graphviz/cgraph.h>
#include <graphviz/gvc.h>
#include <unistd.h>

#include <memory>

#include "absl/strings/str_cat.h"
#include "support/file.h"
#include "support/status.h"

namespace hlokit {
namespace {

// What Graphviz has complained of, instead of its own words on standard error.
std::string& Complaints() {
  thread_local std::string text;
  return text;
}
int Complain(char* text) {
  absl::StrAppend(&Complaints(), text);
  return 0;
}

struct GraphCloser {
  void operator()(Agraph_t* graph) const { agclose(graph); }
};

// Graphviz finds its plugins by a file config6a; a package that brings them has it in lib/graphviz.
GVC_t* MakeContext() {
  const std::string plugins = absl::StrCat(FolderOfProgram(), "/../lib/graphviz");
  if (access(absl::StrCat(plugins, "/config6a").c_str(), R_OK) == 0)
    setenv("GVBINDIR", plugins.c_str(), /*overwrite=*/0);
  return gvContext();
}

// One for the process, never freed: the pango plugin remembers fonts of a context beyond its end.
GVC_t* Context() {
  static GVC_t* const context = MakeContext();
  return context;
}

// Lines of an edge and a node under the pointer stand out.
constexpr char kHover[] =
    "\n<style>.edge:hover path{stroke:#d32f2f;stroke-width:3}.edge:hover polygon{fill:#d32f2f;"
    "stroke:#d32f2f}.edge:hover "
    "text{fill:#b71c1c;font-size:11px}.node:hover>*:not(text),.node:hover "
    "polygon,.node:hover ellipse{stroke:#1976d2;stroke-width:2.5}</style>";

std::string WithHover(std::string svg) {
  const size_t tag = svg.find("<svg ");
  const size_t end = tag == std::string::npos ? tag : svg.find('>', tag);
  if (end != std::string::npos) svg.insert(end + 1, kHover);
  return svg;
}

}  // namespace

absl::StatusOr<std::string> Render(const std::string& dot, absl::string_view format) {
  const std::string name(format);
  Complaints().clear();
  agseterrf(Complain);
  agseterr(AGERR);  // warnings, of labels that do not fit and the like, are not for users
  GVC_t* const context = Context();
  std::unique_ptr<Agraph_t, GraphCloser> graph(agmemread(dot.c_str()));
  if (graph == nullptr) return Internal("Graphviz does not read our DOT: ", Complaints());
  if (gvLayout(context, graph.get(), "dot") != 0)
    return Internal("Graphviz cannot lay the graph out: ", Complaints());
  char* data = nullptr;
  unsigned length = 0;
  const int failed = gvRenderData(context, graph.get(), name.c_str(), &data, &length);
  std::string result = failed == 0 && data != nullptr ? std::string(data, length) : "";
  if (data != nullptr) gvFreeRenderData(data);
  gvFreeLayout(context, graph.get());
  if (result.empty())
    return InvalidArgument("Graphviz does not write '", format, "' here: ", Complaints());
  return format == "svg" ? WithHover(std::move(result)) : result;
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
