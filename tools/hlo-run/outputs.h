// Results of a run, to files or to standard output.
#pragma once

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "types/literal.h"

namespace hlokit {

// NAME.npz, NAME.txt (a line a device; `-` is such a text on standard output), or a folder of .npy
// files, made where it is missing. Arrays are named out0, out1, ..., of several devices out0.d3.
// Each file appears whole or not at all.
absl::Status WriteResults(const std::string& path, const std::vector<Literal>& results);
// Whether WriteResults makes a folder of it.
bool WritesFolder(const std::string& path);
// The results of some devices alone, out0.d3, ..., into a folder that several processes fill.
absl::Status WriteShards(const std::string& folder, const std::vector<Literal>& results,
                         absl::Span<const int64_t> devices);

// Recorded results in the shapes of `like`, one a device: out0, ... of an .npz or a folder as
// WriteResults writes them. InvalidArgument names a result that is missing or of another shape.
absl::StatusOr<std::vector<Literal>> ReadResults(const std::string& path,
                                                 const std::vector<Literal>& like);

// A line an array: its name and shape, and its values where there are few or `in_full`.
// ` = f32[2] {1, 2}` and a line's end; big arrays without their elements.
std::string DescribeItem(const Literal& item);
std::string DescribeResults(const std::vector<Literal>& results, bool in_full);

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
