// Groups of instructions that a scheduler is to run beside each other.
#pragma once

#include "passes/pass.h"

namespace hlokit {

// The frontend attribute `_scheduling_group_id` numbers the groups.

// legalize-scheduling-annotations: parameters, constants, bitcasts, tuples and their parts, which
// run at no time, lose their group, as does a member that is left alone in its computation. Values
// stay as they were.
std::unique_ptr<Pass> CreateLegalizeSchedulingAnnotations();

// check-no-data-dependency-in-scheduling-annotations: changes nothing. Errors: InvalidArgument
// where an instruction of a group needs another of it, but for the done that follows its start.
std::unique_ptr<Pass> CreateCheckSchedulingAnnotations();

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
