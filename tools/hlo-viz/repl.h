// hlo-viz --repl: the commands of XLA's interactive_graphviz.
#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "tools/hlo-viz/graph/module_index.h"
#include "tools/hlo-viz/options.h"

namespace hlokit {

// The commands over one module. `help` tells them all.
class Commands {
 public:
  Commands(const ModuleIndex& index, const VizOptions& options)
      : index_(index), options_(options) {}

  // What a line prints. A picture goes to a file of its own, which the text names. Errors are for
  // the user to read; the session goes on.
  absl::StatusOr<std::string> Run(absl::string_view line);
  bool done() const { return done_; }
  // What `word`, which follows `before` on the line, could go on to, at most 200: commands first on
  // the line, then what the command takes, mostly names.
  std::vector<std::string> Completions(absl::string_view before, absl::string_view word) const;

 private:
  using Words = std::vector<absl::string_view>;
  absl::StatusOr<std::string> Help(const Words& words);
  absl::StatusOr<std::string> List(const Words& words);
  absl::StatusOr<std::string> Info(const Words& words);
  absl::StatusOr<std::string> Paths(const Words& words);
  absl::StatusOr<std::string> ExtractPart(const Words& words);
  absl::StatusOr<std::string> StackTrace(const Words& words);
  absl::StatusOr<std::string> Switch(const Words& words, bool& target);
  absl::StatusOr<std::string> Quit(const Words& words);
  absl::StatusOr<std::string> BackendConfig(const Words& words);
  absl::StatusOr<std::string> Metadata(const Words& words);
  absl::StatusOr<std::string> Fusions(const Words& words);
  absl::StatusOr<std::string> DrawNamed(const Words& words);
  absl::StatusOr<std::string> WritePicture(const Selection& selection);

  struct Row;
  static const std::vector<Row>& Table();

  const ModuleIndex& index_;
  VizOptions options_;
  bool done_ = false;
  int pictures_ = 0;
};

// Reads commands from standard input until it ends: on a terminal with history (kept line by line
// in
// ~/.hlo_viz_history), completion, and Ctrl-C to give up a line. Returns the exit status.
int RunRepl(const ModuleIndex& index, const VizOptions& options);

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
