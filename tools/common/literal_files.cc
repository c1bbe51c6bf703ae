// Literals in protobuf files.
#include "tools/common/literal_files.h"

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "support/file.h"
#include "support/status.h"
#include "tools/common/load.h"

namespace hlokit {
namespace {

ProtoEncoding EncodingByName(const std::string& path) {
  return absl::EndsWithIgnoreCase(path, ".pbtxt") ? ProtoEncoding::kText : ProtoEncoding::kBinary;
}

// Shapes of a snapshot's arguments may lack layouts, and so may tuples inside of them.
void TakeShape(Literal& literal, const Shape& shape) {
  for (size_t i = 0; i < literal.elements().size(); ++i)
    TakeShape(literal.elements()[i], shape.elements[i]);
  literal.set_shape(shape);
}

}  // namespace

bool IsProtoFormat(absl::string_view format) { return format == "pb" || format == "pbtxt"; }

absl::StatusOr<LiteralFile> ReadLiterals(const std::string& path) {
  ASSIGN_OR_RETURN(const std::string bytes, ReadFile(path));
  RETURN_IF_ERROR(Annotate(CheckNotPacked(bytes), path));
  const auto encoding = EncodingOf(path, bytes);
  absl::StatusOr<LiteralFile> file =
      ReadLiteralFile(bytes, encoding.value_or(EncodingByName(path)));
  return file.ok() ? std::move(file) : Annotate(file.status(), path);
}

absl::StatusOr<Literal> FitLiteral(Literal literal, const Shape& shape, absl::string_view label) {
  if (!Compatible(literal.shape(), shape))
    return InvalidArgument(label, ": expected ", Text(shape), ", given ", Text(literal.shape()));
  TakeShape(literal, shape);
  return literal;
}

absl::StatusOr<std::vector<std::vector<Literal>>> FitArguments(
    const Module& module, std::vector<std::vector<Literal>> by_device) {
  const auto parameters = module.entry()->parameters();
  for (std::vector<Literal>& arguments : by_device) {
    if (arguments.size() != parameters.size())
      return InvalidArgument("the snapshot holds ", arguments.size(), " arguments, the module has ",
                             parameters.size(), " parameters");
    for (size_t i = 0; i < arguments.size(); ++i) {
      const std::string label =
          absl::StrCat("the snapshot's argument ", i, " (", parameters[i]->name(), ")");
      ASSIGN_OR_RETURN(arguments[i],
                       FitLiteral(std::move(arguments[i]), parameters[i]->shape(), label));
    }
  }
  return by_device;
}

absl::Status WriteLiteral(const std::string& path, const std::vector<Literal>& results) {
  if (results.size() != 1)
    return InvalidArgument(path, ": a LiteralProto holds the result of one device, not of ",
                           results.size(), "; write .npz or .txt");
  ASSIGN_OR_RETURN(const std::string bytes, WriteLiteralProto(results[0], EncodingByName(path)));
  return AtomicWriteFile(path, bytes);
}

absl::Status WriteRun(const std::string& path, absl::Span<const Literal* const> arguments,
                      const Literal& result) {
  LiteralFile run;
  for (const Literal* argument : arguments) run.arguments.push_back(*argument);
  run.result = result;
  ASSIGN_OR_RETURN(const std::string bytes, WriteLiteralsProto(run, EncodingByName(path)));
  return AtomicWriteFile(path, bytes);
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
