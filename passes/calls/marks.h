// Custom calls that only mark something, and names.
#pragma once

#include "passes/pass.h"

namespace hlokit {

// control-dep-rewriter: custom calls of "control_dep" with two operands become a control edge from
// the first to the second. Errors: InvalidArgument where the first needs the second.
std::unique_ptr<Pass> CreateControlDepRewriter();

// strip-memory-placement-annotations: custom calls of "annotate_device_placement" go.
std::unique_ptr<Pass> CreateStripMemoryPlacementAnnotations();

// convert-memory-placement-to-internal-annotations: the same calls become MoveToHost or
// MoveToDevice, by their _xla_buffer_placement (pinned_host, unpinned_host; device); others stay.
std::unique_ptr<Pass> CreateConvertMemoryPlacement();

// memory-space-propagation: parameters and roots of fusions lie in the memory spaces of what the
// fusions read and give.
std::unique_ptr<Pass> CreateMemorySpacePropagation();

// sanitize-constant-names: '.' and '-' in the names of constants become '_'.
std::unique_ptr<Pass> CreateSanitizeConstantNames();

// hlo-verifier: checks the module and changes nothing. Errors: what the verifier finds first.
std::unique_ptr<Pass> CreateHloVerifier();

// test-only-foo2bar, test-only-bar2hello: instructions named foo are renamed bar, those named bar
// hello. For tests of lists of passes.
std::unique_ptr<Pass> CreateTestOnlyFoo2Bar();
std::unique_ptr<Pass> CreateTestOnlyBar2Hello();

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
