// The session: lines from a terminal through libedit, or from a pipe.
#include "tools/hlo-viz/repl.h"

#include <editline/readline.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iostream>

#include "tools/common/exit_status.h"

namespace hlokit {
namespace {

// libedit's callbacks carry no data.
const Commands* completed = nullptr;
std::vector<std::string> offered;
size_t next_offer = 0;

char* NextOffer(const char* word, int again) {
  if (again == 0) {
    offered = completed->Completions(word, rl_point == static_cast<int>(std::strlen(word)));
    next_offer = 0;
  }
  return next_offer < offered.size() ? strdup(offered[next_offer++].c_str()) : nullptr;
}
char** Complete(const char* word, int, int) {
  rl_attempted_completion_over = 1;  // files are no names of a module
  return rl_completion_matches(word, NextOffer);
}

std::string HistoryFile() {
  const char* home = std::getenv("HOME");
  return home == nullptr ? "" : std::string(home) + "/.hlo_viz_history";
}

bool ReadTerminal(std::string& line) {
  char* typed = readline("hlo-viz> ");
  if (typed == nullptr) return false;
  line = typed;
  if (!line.empty()) add_history(typed);
  std::free(typed);
  return true;
}

}  // namespace

int RunRepl(const ModuleIndex& index, const VizOptions& o) {
  Commands commands(index, o);
  const bool terminal = isatty(STDIN_FILENO) != 0;
  const std::string history = terminal ? HistoryFile() : "";
  if (terminal) {
    completed = &commands;
    rl_attempted_completion_function = Complete;
    rl_basic_word_break_characters = const_cast<char*>(" \t\n");
    using_history();
    if (!history.empty()) read_history(history.c_str());
    std::printf("%s: help tells the commands\n", index.module().name().c_str());
  }
  std::string line;
  while (!commands.done() && (terminal ? ReadTerminal(line) : !!std::getline(std::cin, line))) {
    const auto answer = commands.Run(line);
    if (answer.ok()) {
      std::fwrite(answer->data(), 1, answer->size(), stdout);
    } else {
      std::printf("error: %s\n", std::string(answer.status().message()).c_str());
    }
    std::fflush(stdout);
  }
  if (!history.empty()) write_history(history.c_str());
  return kExitDone;
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
