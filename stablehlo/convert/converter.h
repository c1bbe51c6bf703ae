// StableHLO to HLO, as XLA converts it.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "ir/module.h"
#include "stablehlo/entry_wishes.h"
#include "stablehlo/ir/mlir.h"

namespace hlokit {

// The functions that a program can begin with: `main`, else the public ones, and of several those
// that no other names. Errors: InvalidArgument where there is none.
absl::StatusOr<std::vector<std::string>> EntriesOf(const MlirModule& program);

// The module whose entry is the function of that name. Operations without an
// equal in HLO are decomposed as XLA does. Errors: InvalidArgument or Unimplemented with the place
// of the operation, which names what is refused. `sizes`: of the dimensions of the entry's
// arguments, where their types leave some open (tensor<?x4xf32>); empty: they stay open.
absl::StatusOr<std::unique_ptr<Module>> ConvertMlir(const MlirModule& program,
                                                    const std::string& entry,
                                                    EntryWishes* wishes = nullptr,
                                                    absl::Span<const DimVector> sizes = {});

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
