// Literals in protobuf files: inputs and outputs, and what a snapshot recorded.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "ir/module.h"
#include "proto/proto_file.h"

namespace hlokit {

// True for "pb" and "pbtxt".
bool IsProtoFormat(absl::string_view format);

// The literals of a LiteralProto, RunHloModuleLiterals or snapshot.
absl::StatusOr<LiteralFile> ReadLiterals(const std::string& path);

// `literal` as a value of `shape`: its layout is the shape's. Errors: InvalidArgument with `label`,
// expected and given, where type or dimensions differ.
absl::StatusOr<Literal> FitLiteral(Literal literal, const Shape& shape, absl::string_view label);

// A snapshot's arguments, held against the entry's parameters.
absl::StatusOr<std::vector<std::vector<Literal>>> FitArguments(
    const Module& module, std::vector<std::vector<Literal>> by_device);

// A LiteralProto in a .pb or .pbtxt file. Errors: InvalidArgument for results of several devices.
absl::Status WriteLiteral(const std::string& path, const std::vector<Literal>& results);

// RunHloModuleLiterals: the first device's arguments and result.
absl::Status WriteRun(const std::string& path, absl::Span<const Literal* const> arguments,
                      const Literal& result);

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
