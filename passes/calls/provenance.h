// propagate-call-metadata and add-original-value: where values come from.
#pragma once

#include "passes/pass.h"

namespace hlokit {

// propagate-call-metadata. Instructions of a computation that one call runs get the call's op_name
// before their own. Cost: linear.
std::unique_ptr<Pass> CreatePropagateCallMetadata();

// add-original-value. Instructions without origin={...} get one that names themselves, leaf by
// leaf. Cost: linear.
std::unique_ptr<Pass> CreateAddOriginalValue();

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
