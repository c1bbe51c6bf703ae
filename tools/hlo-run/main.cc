// hlo-run: compiles HLO modules and runs them on a platform.
#include "tools/hlo-run/options.h"

int main(int argc, char** argv) {
  hlokit::RunOptions options;
  int exit_status = 0;
  if (!hlokit::ParseRunOptions(argc, argv, options, exit_status)) return exit_status;
  return hlokit::RunHloRun(options);
}
// SPDX-License-Identifier: Apache-2.0
