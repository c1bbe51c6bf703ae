// What hlo-opt does with a folder of dumps: the passes that changed each module, and what they did.
#pragma once

#include "tools/hlo-opt/options.h"

namespace hlokit {

// For each module of the folder a table of its stages with instructions and what changed since the
// stage before; --between=A,B: what differs between two stages, by number or name of the pass;
// --replay: our pass of that name on each stage, held to the next. Returns the exit status; 1 where
// --between finds differences or --replay another result.
int RunOnDumpFolder(const OptOptions& options);

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
