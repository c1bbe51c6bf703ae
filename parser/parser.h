// Reads HLO text: modules of every dialect that XLA has printed, and the shapes, literals and
// shardings in them.
#pragma once

#include <memory>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "ir/module.h"
#include "support/diagnostics.h"
#include "types/literal.h"

namespace hlokit {

struct ParseOptions {
  // Attributes that this version does not know are kept as text, with a warning, instead of being
  // errors.
  bool allow_unknown_attributes = false;
};

// Every error goes into `diagnostics`, with its place; the status is the first one. After an error
// in an instruction reading goes on at the next, so one run names up to Diagnostics::kMaxKept
// errors. Array shapes without a layout get the default one, names are made unique as XLA does, and
// entry_layout is always set. The result is not verified. Limits: kMaxRank dimensions, 200 levels
// of nesting, literals of 4 GiB, files of 4 GiB.
absl::StatusOr<std::unique_ptr<Module>> ParseModule(std::shared_ptr<const SourceFile> file,
                                                    const ParseOptions& options,
                                                    Diagnostics& diagnostics);

// The whole of `text` must be the thing asked for. Errors: InvalidArgument with the place in
// `text`.
absl::StatusOr<Shape> ParseShape(absl::string_view text);  // layouts only where the text has them
absl::StatusOr<Literal> ParseLiteral(
    absl::string_view text);  // `f32[2] {1, 2}`, `(s32[] 1, f32[1] {2})`
absl::StatusOr<Literal> ParseLiteral(absl::string_view text,
                                     const Shape& shape);        // `{1, 2}`, or as above
absl::StatusOr<Sharding> ParseSharding(absl::string_view text);  // `{replicated}`

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
