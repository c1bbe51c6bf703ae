// How far hlo-opt goes: the stages, and the plugin behind those past hlo.
#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "ir/module.h"
#include "tools/hlo-opt/options.h"

namespace hlokit {

// A line a stage of the platform: its name, a tab, what it gives.
std::string StageList();

// InvalidArgument for a name that is no stage, Unimplemented for one that this build or the
// platform lacks.
absl::Status CheckStage(const OptOptions& options);

// Whether the stage is HLO text, which hlo-opt prints by itself.
bool IsHloStage(const std::string& stage);

// What a stage past hlo gives for the module, passes having run.
absl::StatusOr<std::string> RunStage(const Module& module, const OptOptions& options);

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
