// Operations of StableHLO's first years: einsum, torch_index_select, cross-replica-sum.
//
//   %0 = "stablehlo.einsum"(%a, %b) {einsum_config = "ij,jk->ik"}
//
// is a dot: letters of both operands and of the result are batches, those of both operands alone
// are contracted; what one operand alone has and the result has not is summed before. Letters of
// `...` are further batches.
#include <algorithm>

#include "absl/strings/str_split.h"
#include "stablehlo/convert/collectives_internal.h"
#include "stablehlo/convert/converter_internal.h"

namespace hlokit {
namespace {

// The labels of the dimensions of one operand: letters, and for `...` as many characters from
// kEllipsis on as the rank leaves.
constexpr char kEllipsis = '\x80';

absl::StatusOr<std::string> Labels(const MlirOperation& op, absl::string_view text,
                                   int64_t ellipsis) {
  std::string labels;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == ' ') continue;
    if (text.substr(i, 3) == "...") {
      for (int64_t k = 0; k < ellipsis; ++k)
        labels += static_cast<char>(static_cast<unsigned char>(kEllipsis) + k);
      i += 2;
    } else if ((text[i] | 32) >= 'a' && (text[i] | 32) <= 'z') {
      labels += text[i];
    } else {
      return InvalidArgument(op.name, ": einsum_config has the character '", text.substr(i, 1),
                             "'");
    }
  }
  for (size_t i = 0; i < labels.size(); ++i)
    if (labels.find(labels[i], i + 1) != labels.npos)
      return Unimplemented(op.name, ": a letter stands twice for one array");
  return labels;
}

// The dimensions that `...` stands for in an operand of that rank; 0 where there is none.
int64_t EllipsisRank(absl::string_view text, int64_t rank) {
  if (text.find("...") == text.npos) return 0;
  const int64_t letters =
      std::count_if(text.begin(), text.end(), [](char c) { return c != '.' && c != ' '; });
  return std::max<int64_t>(rank - letters, 0);
}

struct Labelled {
  Instruction* value;
  std::string labels;
};

// The value without the dimensions that `keep` has not, which are summed.
Labelled Summed(BodyConverter& body, Labelled operand, absl::string_view keep) {
  DimensionsAttrs reduce;
  std::string rest;
  Shape shape = operand.value->shape();
  shape.dims.clear();
  for (size_t d = 0; d < operand.labels.size(); ++d) {
    if (keep.find(operand.labels[d]) == keep.npos) {
      reduce.dimensions.push_back(static_cast<int64_t>(d));
    } else {
      rest += operand.labels[d];
      shape.dims.push_back(operand.value->shape().dims[d]);
    }
  }
  if (reduce.dimensions.empty()) return operand;
  Computation* add = SumOf(body, shape.type);
  Instruction* zero = body.Splat(0.0, Shape::Scalar(shape.type).WithDefaultLayout());
  Instruction* sum =
      body.Add(Opcode::kReduce, Shape::Array(shape.type, shape.dims).WithDefaultLayout(),
               {operand.value, zero}, std::move(reduce));
  sum->set_called({add});
  return {sum, rest};
}

// The dimensions in the order of `to`, which has the same labels.
Instruction* InOrder(BodyConverter& body, const Labelled& from, const std::string& to) {
  if (from.labels == to) return from.value;
  DimVector permutation, dims;
  for (const char label : to) {
    permutation.push_back(static_cast<int64_t>(from.labels.find(label)));
    dims.push_back(from.value->shape().dims[permutation.back()]);
  }
  return body.Add(Opcode::kTranspose,
                  Shape::Array(from.value->shape().type, dims).WithDefaultLayout(), {from.value},
                  DimensionsAttrs{std::move(permutation)});
}

absl::Status CheckRank(const MlirOperation& op, const Labelled& operand) {
  if (operand.value->shape().IsArray() &&
      operand.value->shape().rank() == static_cast<int>(operand.labels.size()))
    return absl::OkStatus();
  return InvalidArgument(op.name, ": einsum_config has ", operand.labels.size(), " dimensions for ",
                         Text(operand.value->shape()));
}

Labelled Product(BodyConverter& body, const Labelled& a, const Labelled& b,
                 const std::string& result) {
  DotAttrs dot;
  std::string batch, rest;
  DimVector sizes, free_sizes;
  for (size_t d = 0; d < a.labels.size(); ++d) {
    const size_t other = b.labels.find(a.labels[d]);
    const int64_t size = a.value->shape().dims[d];
    if (other == b.labels.npos) {
      rest += a.labels[d];
      free_sizes.push_back(size);
    } else if (result.find(a.labels[d]) == result.npos) {
      dot.lhs_contracting_dims.push_back(static_cast<int64_t>(d));
      dot.rhs_contracting_dims.push_back(static_cast<int64_t>(other));
    } else {
      batch += a.labels[d];
      sizes.push_back(size);
      dot.lhs_batch_dims.push_back(static_cast<int64_t>(d));
      dot.rhs_batch_dims.push_back(static_cast<int64_t>(other));
    }
  }
  for (size_t d = 0; d < b.labels.size(); ++d)
    if (a.labels.find(b.labels[d]) == a.labels.npos) {
      rest += b.labels[d];
      free_sizes.push_back(b.value->shape().dims[d]);
    }
  sizes.insert(sizes.end(), free_sizes.begin(), free_sizes.end());
  Instruction* made =
      body.Add(Opcode::kDot, Shape::Array(a.value->shape().type, sizes).WithDefaultLayout(),
               {a.value, b.value}, std::move(dot));
  return {made, batch + rest};
}

}  // namespace

Computation* SumOf(BodyConverter& body, ElementType type) {
  Computation* sum = body.module().module().AddComputation("sum");
  const Shape scalar = Shape::Scalar(type).WithDefaultLayout();
  Instruction* a = sum->AddParameter(0, scalar);
  Instruction* b = sum->AddParameter(1, scalar);
  sum->set_root(sum->Add(IsPred(type) ? Opcode::kOr : Opcode::kAdd, scalar, {a, b}));
  return sum;
}

absl::Status ConvertEinsum(BodyConverter& body, const MlirOperation& op) {
  ASSIGN_OR_RETURN(const std::vector<Instruction*> operands, body.Operands(op));
  ASSIGN_OR_RETURN(const std::string config, OpAttributes(op).Word("einsum_config"));
  const std::vector<std::string> sides = absl::StrSplit(config, "->");
  const std::vector<std::string> inputs = absl::StrSplit(sides[0], ',');
  if (sides.size() != 2 || inputs.size() != operands.size() || operands.empty() ||
      operands.size() > 2 || op.results.size() != 1)
    return InvalidArgument(op.name, ": einsum_config \"", config, "\" is not one of ",
                           operands.size(), " operands");
  int64_t ellipsis = 0;
  std::vector<Labelled> labelled;
  for (size_t i = 0; i < operands.size(); ++i) {
    const int64_t own = EllipsisRank(inputs[i], operands[i]->shape().rank());
    if (i > 0 && own != ellipsis && own != 0 && ellipsis != 0)
      return Unimplemented(op.name, ": ... stands for unequal numbers of dimensions");
    ellipsis = std::max(ellipsis, own);
    ASSIGN_OR_RETURN(std::string labels, Labels(op, inputs[i], own));
    labelled.push_back({operands[i], std::move(labels)});
    RETURN_IF_ERROR(CheckRank(op, labelled.back()));
  }
  ASSIGN_OR_RETURN(const std::string result, Labels(op, sides[1], ellipsis));
  Labelled made = labelled[0];
  if (labelled.size() == 1) {
    made = Summed(body, made, result);
  } else {
    const Labelled a = Summed(body, labelled[0], labelled[1].labels + result);
    const Labelled b = Summed(body, labelled[1], labelled[0].labels + result);
    made = Product(body, a, b, result);
  }
  for (const char label : result)
    if (made.labels.find(label) == made.labels.npos)
      return InvalidArgument(op.name, ": the result has a letter that no operand has");
  body.SetResults(op, InOrder(body, made, result));
  return absl::OkStatus();
}

absl::Status ConvertUnaryEinsum(BodyConverter& body, const MlirOperation& op) {
  return ConvertEinsum(body, op);
}

// Element [b.., i.., rest] of the result is operand[b.., index[b.., i..], rest]: a gather along
// `dim` with `batch_dims` leading batches.
absl::Status ConvertTorchIndexSelect(BodyConverter& body, const MlirOperation& op) {
  ASSIGN_OR_RETURN(const std::vector<Instruction*> operands, body.Operands(op));
  ASSIGN_OR_RETURN(const int64_t dim, OpAttributes(op).Int("dim"));
  ASSIGN_OR_RETURN(const int64_t batches, OpAttributes(op).Int("batch_dims", 0));
  if (operands.size() != 2 || op.results.size() != 1)
    return InvalidArgument(op.name, ": expected two operands and a result");
  const Shape &from = operands[0]->shape(), &index = operands[1]->shape();
  if (!from.IsArray() || !index.IsArray() || batches < 0 || batches > dim || dim >= from.rank() ||
      batches > index.rank())
    return InvalidArgument(op.name, ": dim and batch_dims do not fit ", Text(from));
  GatherAttrs gather;
  for (int64_t d = 0; d < from.rank(); ++d)
    gather.slice_sizes.push_back(d < batches || d == dim ? 1 : from.dims[d]);
  for (int64_t d = 0; d < batches; ++d) {
    gather.operand_batching_dims.push_back(d);
    gather.start_indices_batching_dims.push_back(d);
  }
  gather.collapsed_slice_dims.push_back(dim);
  gather.start_index_map.push_back(dim);
  gather.index_vector_dim = index.rank();
  const int64_t own = index.rank() - batches;  // dimensions that stand for `dim`
  for (int64_t d = batches; d < from.rank(); ++d)
    if (d != dim) gather.offset_dims.push_back(d < dim ? d : d - 1 + own);
  body.SetResults(op, body.Add(Opcode::kGather, body.ShapeOf(op), operands, std::move(gather)));
  return absl::OkStatus();
}

absl::Status ConvertCrossReplicaSum(BodyConverter& body, const MlirOperation& op) {
  ASSIGN_OR_RETURN(const std::vector<Instruction*> operands, body.Operands(op));
  if (operands.size() != 1 || op.results.size() != 1 || !operands[0]->shape().IsArray())
    return InvalidArgument(op.name, ": expected an array and a result");
  AllReduceAttrs sum;
  ASSIGN_OR_RETURN(sum.replica_groups, GroupsOf(body, op));
  Instruction* made = body.Add(Opcode::kAllReduce, operands[0]->shape(), operands, std::move(sum));
  made->set_called({SumOf(body, operands[0]->shape().type)});
  body.SetResults(op, made);
  return absl::OkStatus();
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
