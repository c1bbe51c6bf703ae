// hlo-lsp: a language server for HLO text, over standard input and output.
#include <signal.h>
#include <unistd.h>

#include "CLI/CLI.hpp"
#include "tools/common/flags.h"
#include "tools/common/signals.h"
#include "tools/hlo-lsp/service/server.h"

namespace {

constexpr char kExamples[] = R"(Examples:
  hlo-lsp                       an editor starts it so, and speaks the language server protocol
  vim.lsp.start({name = 'hlo', cmd = {'hlo-lsp'}})    in neovim

Exit status: 0 after shutdown and exit; 1 where the input ended before; 2 bad flags or input.)";

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("A language server for HLO and StableHLO text, over standard input and output.",
               "hlo-lsp");
  bool stdio = true;
  app.add_flag("--stdio", stdio, "what it does anyway; editors give it");
  int exit_status = 0;
  if (!hlokit::ParseToolFlags(app, argc, argv, kExamples, exit_status)) return exit_status;
  hlokit::EndOnSignals("hlo-lsp", /*time_limit_s=*/0);
  signal(SIGPIPE, SIG_IGN);  // an editor that has gone shows in what write returns
  hlokit::RpcStream stream(STDIN_FILENO, STDOUT_FILENO);
  return hlokit::LanguageServer(stream).Run();
}
// SPDX-License-Identifier: Apache-2.0
