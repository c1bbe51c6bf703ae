// What makes sharding-propagation spread shardings as Shardy does.
#pragma once

#include "ir/module.h"

namespace hlokit {

// Replaces operations by others that are spread as Shardy spreads the first. The module's values
// mean nothing then: it is good for shardy-xla and for reading shardings, of the values before the
// root too, where a result of the entry may not be cut unevenly.
void SetShardyStandIns(Module& module);

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
