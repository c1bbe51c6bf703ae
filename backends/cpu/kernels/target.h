// The CPU as shared code sees it.
#pragma once

#include "codegen/target_info.h"

namespace hlokit {

// The same for all processors, so that results have the same bits on all of them.
const TargetInfo& CpuTargetInfo();

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
