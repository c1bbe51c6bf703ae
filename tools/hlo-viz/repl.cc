// The session: lines from a terminal through libedit, or from a pipe.
#include "tools/hlo-viz/repl.h"

#include <editline/readline.h>
#include <unistd.h>

#include <algorithm>
#include <csetjmp>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iostream>

#include "tools/common/exit_status.h"

namespace hlokit {
namespace {

// libedit's callbacks carry no data, nor do signals.
const Commands* completed = nullptr;
std::vector<std::string> offered;
size_t next_offer = 0;
sigjmp_buf line_start;
volatile std::sig_atomic_t reading = 0;
struct sigaction ends_program;

// readline's generator: asks for one completion after the other, null at the end.
char* NextOffer(const char* word, int again) {
  if (again == 0) {
    const absl::string_view line(rl_line_buffer,
                                 std::min<size_t>(rl_point, std::strlen(rl_line_buffer)));
    offered = completed->Completions(
        line.substr(0, line.size() - std::min(line.size(), std::strlen(word))), word);
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

// Ctrl-C while a line is typed gives up the line; while a command runs it ends the program.
void Interrupt(int signal) {
  if (reading == 0) {
    ends_program.sa_handler(signal);
    return;
  }
  reading = 0;
  siglongjmp(line_start, 1);
}

void CatchInterrupts() {
  struct sigaction action = {};
  action.sa_handler = Interrupt;
  sigemptyset(&action.sa_mask);
  sigaction(SIGINT, &action, &ends_program);
  if (ends_program.sa_handler == SIG_DFL || ends_program.sa_handler == SIG_IGN)
    ends_program.sa_handler = _exit;
}

// Nothing here has a destructor: an interrupt leaves it from anywhere.
char* TypedLine() {
  if (sigsetjmp(line_start, 1) != 0) (void)!write(STDOUT_FILENO, "^C\n", 3);
  reading = 1;
  char* typed = readline("hlo-viz> ");
  reading = 0;
  return typed;
}

// False at the end of input.
bool ReadTerminal(std::string& line, const std::string& history) {
  char* typed = TypedLine();
  if (typed == nullptr) return false;
  line = typed;
  if (!line.empty()) {
    add_history(typed);
    if (!history.empty()) write_history(history.c_str());
  }
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
    CatchInterrupts();
    rl_attempted_completion_function = Complete;
    rl_basic_word_break_characters = const_cast<char*>(" \t\n");
    using_history();
    if (!history.empty()) read_history(history.c_str());
    std::printf("%s: help tells the commands\n", index.module().name().c_str());
  }
  std::string line;
  while (!commands.done() &&
         (terminal ? ReadTerminal(line, history) : !!std::getline(std::cin, line))) {
    const auto answer = commands.Run(line);
    if (answer.ok()) {
      std::fwrite(answer->data(), 1, answer->size(), stdout);
    } else {
      std::printf("error: %s\n", std::string(answer.status().message()).c_str());
    }
    std::fflush(stdout);
  }
  return kExitDone;
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
