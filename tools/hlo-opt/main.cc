// hlo-opt: reads, verifies, transforms and prints HLO modules.
#include "tools/hlo-opt/options.h"

int main(int argc, char** argv) {
  hlokit::OptOptions options;
  int exit_status = 0;
  if (!hlokit::ParseOptOptions(argc, argv, options, exit_status)) return exit_status;
  return hlokit::RunHloOpt(options);
}
// SPDX-License-Identifier: Apache-2.0
