// Random numbers and tokens.
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "stablehlo/convert/converter_internal.h"

namespace hlokit {

// The third operand is the shape of the result, which its type says too.
absl::Status ConvertRng(BodyConverter& body, const MlirOperation& op) {
  ASSIGN_OR_RETURN(const std::vector<Instruction*> operands, body.Operands(op));
  RETURN_IF_ERROR(CheckOperands(op, 2));
  ASSIGN_OR_RETURN(const std::string distribution,
                   OpAttributes(op).Word("rng_distribution", "UNIFORM"));
  RngAttrs rng;
  if (!EnumFromText(absl::StrCat("rng_", absl::AsciiStrToLower(distribution)), rng.distribution))
    return InvalidArgument(op.name, ": unknown distribution ", distribution);
  body.SetResults(op, body.Add(Opcode::kRng, body.ShapeOf(op), {operands[0], operands[1]}, rng));
  return absl::OkStatus();
}

absl::Status ConvertRngBitGenerator(BodyConverter& body, const MlirOperation& op) {
  ASSIGN_OR_RETURN(const std::vector<Instruction*> operands, body.Operands(op));
  if (operands.size() != 1 || op.results.size() != 2)
    return InvalidArgument(op.name, ": expected an operand and two results");
  ASSIGN_OR_RETURN(const std::string algorithm, OpAttributes(op).Word("rng_algorithm", "DEFAULT"));
  RngBitGeneratorAttrs rng;
  const std::string word = absl::AsciiStrToLower(algorithm);
  if (word != "default" && word != "three_fry" && word != "philox")
    return InvalidArgument(op.name, ": unknown algorithm ", algorithm);
  EnumFromText(absl::StrCat("rng_", word), rng.algorithm);
  body.SetResults(op, body.Add(Opcode::kRngBitGenerator, body.ShapeOf(op), operands, rng));
  return absl::OkStatus();
}

absl::Status ConvertAfterAll(BodyConverter& body, const MlirOperation& op) {
  ASSIGN_OR_RETURN(const std::vector<Instruction*> operands, body.Operands(op));
  body.SetResults(op, body.Add(Opcode::kAfterAll, Shape::Token(), operands));
  return absl::OkStatus();
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
