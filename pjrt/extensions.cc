// The chain of extensions.
#include "pjrt/extensions.h"

namespace hlokit {

PJRT_Extension_Base* PjrtExtensions() { return nullptr; }

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
