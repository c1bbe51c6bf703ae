// The choice among the ways that scatter_kernels.cc and scatter_run_kernels.cc describe.
#include <algorithm>

#include "backends/cuda/scatter_plan_internal.h"
#include "ops/dim_lists.h"
#include "passes/rewrite/hlo_writer.h"

namespace hlokit {
namespace {

constexpr int64_t kMaxSearchSteps = int64_t{1} << 34;
constexpr double kLongSearch = 1 << 26;  // steps; shorter ones need not believe what is said
// Steps of a search that a launch for the base would cost.
constexpr int64_t kLaunchSteps = 1 << 16;

std::optional<llvm::AtomicRMWInst::BinOp> AtomicOf(const Instruction& scatter) {
  using Atomic = llvm::AtomicRMWInst;
  const std::optional<Opcode> combine = OrderlessCombiner(scatter);
  if (!combine.has_value()) return std::nullopt;
  const ElementType type = scatter.operand(0)->shape().type;
  const bool is_signed = IsSigned(type) && IsInteger(type);
  if (IsFloat(type)) return *combine == Opcode::kMaximum ? Atomic::FMax : Atomic::FMin;
  switch (*combine) {
    case Opcode::kAdd:
      return Atomic::Add;
    case Opcode::kMaximum:
      return is_signed ? Atomic::Max : Atomic::UMax;
    case Opcode::kMinimum:
      return is_signed ? Atomic::Min : Atomic::UMin;
    case Opcode::kAnd:
      return Atomic::And;
    case Opcode::kOr:
      return Atomic::Or;
    default:
      return Atomic::Xor;
  }
}

// Batching dimensions, whose number is that of a dimension of the base.
void TieBatches(ScatterPlan& plan) {
  const DimVector all = ScatterBatchDims(*plan.scatter);
  const ScatterAttrs& dims = plan.dims();
  for (size_t k = 0; k < dims.input_batching_dims.size(); ++k) {
    int64_t from = dims.scatter_indices_batching_dims[k];
    if (from > dims.index_vector_dim) --from;
    plan.tied.emplace_back(all[from], dims.input_batching_dims[k]);
    plan.batch.push_back(all[from]);
  }
  for (const int64_t d : all)
    if (!Contains(plan.batch, d)) plan.searched.push_back(d);
  plan.batch.insert(plan.batch.end(), plan.searched.begin(), plan.searched.end());
  for (const int64_t d : plan.searched) plan.windows *= plan.updates().dims[d];
}

}  // namespace

int64_t ScatterPlan::WindowElements() const {
  int64_t count = 1;
  for (const int64_t d : dims().update_window_dims) count *= updates().dims[d];
  return count;
}

bool HasDisjointWindows(const Instruction& scatter) {
  const DimVector& scattered = scatter.attr<ScatterAttrs>().scatter_dims_to_operand_dims;
  return std::all_of(scattered.begin(), scattered.end(),
                     [&](int64_t d) { return ScatterWindowSize(scatter, d) == 1; });
}

std::optional<ScatterPlan> PlanScatter(const Expression& e) {
  const Instruction* root = e.roots[0];
  if (root->opcode() != Opcode::kScatter) return std::nullopt;
  ScatterPlan plan{e, root, (root->operand_count() - 1) / 2, {}, {}, {}};
  for (const Instruction* r : e.roots)
    if (r != root) return std::nullopt;
  for (const Shape& shape : e.shapes)
    if (IsSubByte(shape.type) || shape.MinorToMajor() != e.shapes[0].MinorToMajor())
      return std::nullopt;
  const int64_t base = plan.base().ElementCount(), updates = plan.updates().ElementCount();
  if (base == 0 || updates == 0) return std::nullopt;
  TieBatches(plan);
  const auto steps = [&](int64_t threads) {
    return static_cast<double>(threads) * static_cast<double>(plan.windows);
  };
  if (!plan.dims().unique_indices && steps(std::min(base, updates)) > kLaunchSteps)
    plan.atomic = AtomicOf(*root);
  plan.by_result = steps(base) <= 2 * steps(updates) + kLaunchSteps;
  if (plan.atomic.has_value()) return plan;
  if (plan.dims().indices_are_sorted && HasDisjointWindows(*root) &&
      steps(std::min(base, updates)) >= kLongSearch) {
    plan.in_runs = true;
    plan.by_result = false;
    return plan;
  }
  if (steps(plan.by_result ? base : updates) > static_cast<double>(kMaxSearchSteps))
    return std::nullopt;
  return plan;
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
