// What a module is in short: its signature, or its operations by types alone.
#pragma once

#include <string>

#include "absl/strings/string_view.h"
#include "ir/module.h"

namespace hlokit {

// Whether --format=`format` asks for a summary.
bool IsSummary(absl::string_view format);

// "signature", as XLA's show_signature prints it: `(p: f32[2]) -> f32[2]`. "operations", as
// dumped_computation_to_operation_list: `add :: (f32[2], f32[2]) -> f32[2] :: module`, a line for
// each instruction of each computation, called ones first.
std::string SummaryOf(const Module& module, absl::string_view format);

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
