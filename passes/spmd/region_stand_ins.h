// What makes shardings spread through regions that are manual on some axes of the mesh.
#pragma once

#include "ir/module.h"

namespace hlokit {

// Replaces such regions by arrays without regions, in which the other axes' cuts spread as Shardy
// spreads them; regions that are manual on all axes stay. Their calls may be inlined afterwards.
// Returns whether there was one: the module's values mean nothing then (shardy_stand_ins.h).
bool OpenManualRegions(Module& module);

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
