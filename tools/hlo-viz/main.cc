// hlo-viz: draws HLO modules.
#include "tools/common/signals.h"
#include "tools/hlo-viz/options.h"

int main(int argc, char** argv) {
  hlokit::EndOnSignals("hlo-viz", 0);
  hlokit::VizOptions options;
  int exit_status = 0;
  if (!hlokit::ParseVizOptions(argc, argv, options, exit_status)) return exit_status;
  return hlokit::RunHloViz(options);
}
// SPDX-License-Identifier: Apache-2.0
