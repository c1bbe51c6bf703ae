// Extensions of the PJRT C API that hlokit offers: a chain of tables beside the main one.
#pragma once

#include "pjrt/abi/types.h"

namespace hlokit {

// The first of the chain; null where there is none.
PJRT_Extension_Base* PjrtExtensions();

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
