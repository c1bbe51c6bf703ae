// Names that tell readers of later stages what something was.
#pragma once

#include "passes/pass.h"

namespace hlokit {

// scheduling-instruction-annotator: instructions of computations that run on their own, other than
// constants, keep their names in their metadata (scheduling_name), which later renaming leaves as
// it is.
std::unique_ptr<Pass> CreateSchedulingInstructionAnnotator();

// rename_fusions: fusions are named after their kind and the operations at their roots
// (loop_add_fusion), their bodies after the latter (fused_add).
std::unique_ptr<Pass> CreateRenameFusions();

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
