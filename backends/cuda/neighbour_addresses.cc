// Each address is taken apart into a base, a constant and factors of what is not constant,
//
//   gep float, x, (row * 1000 + (lane + 1))   =   x + 4000 * row + 4 * lane + 4
//
// sums and products being followed while they do not wrap, so that the sum of the parts, each
// widened, is the widened whole. Of those with the same base and factors the first one that
// dominates an address gives it. One walk over the function; a search for short lists an address.
// Nothing is inserted before the end of the walk, as a block numbers its instructions anew for the
// first question about their order that follows an insertion.
#include "backends/cuda/neighbour_addresses_internal.h"

#include <algorithm>
#include <map>
#include <vector>

#include "llvm/ADT/APInt.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Operator.h"

namespace hlokit {
namespace {

struct Address {
  llvm::Value* base = nullptr;
  std::map<llvm::Value*, int64_t> factors;
  int64_t constant = 0;

};

// Adds factor * value; deep expressions stay whole.
void AddTerm(llvm::Value* value, int64_t factor, int depth, Address& address) {
  constexpr int kDeep = 12;
  if (const auto* const constant = llvm::dyn_cast<llvm::ConstantInt>(value)) {
    address.constant += factor * constant->getSExtValue();
    return;
  }
  if (auto* const wide = llvm::dyn_cast<llvm::SExtInst>(value); wide != nullptr && depth < kDeep)
    return AddTerm(wide->getOperand(0), factor, depth + 1, address);
  auto* const sum = llvm::dyn_cast<llvm::OverflowingBinaryOperator>(value);
  if (sum != nullptr && sum->hasNoSignedWrap() && depth < kDeep) {
    llvm::Value *const x = sum->getOperand(0), *const y = sum->getOperand(1);
    const auto* const scale = llvm::dyn_cast<llvm::ConstantInt>(y);
    if (sum->getOpcode() == llvm::Instruction::Mul && scale != nullptr)
      return AddTerm(x, factor * scale->getSExtValue(), depth + 1, address);
    if (sum->getOpcode() == llvm::Instruction::Add ||
        sum->getOpcode() == llvm::Instruction::Sub) {
      AddTerm(x, factor, depth + 1, address);
      const bool adds = sum->getOpcode() == llvm::Instruction::Add;
      return AddTerm(y, adds ? factor : -factor, depth + 1, address);
    }
  }
  if ((address.factors[value] += factor) == 0) address.factors.erase(value);
}

Address TakeApart(llvm::GetElementPtrInst& gep, const llvm::DataLayout& layout) {
  constexpr unsigned kBits = 64;
  Address address;
  address.base = &gep;
  while (auto* const inner = llvm::dyn_cast<llvm::GEPOperator>(address.base)) {
    llvm::MapVector<llvm::Value*, llvm::APInt> variable;
    llvm::APInt constant(kBits, 0);
    if (!inner->collectOffset(layout, kBits, variable, constant)) break;
    address.constant += constant.getSExtValue();
    for (const auto& [index, factor] : variable) AddTerm(index, factor.getSExtValue(), 0, address);
    address.base = inner->getPointerOperand();
  }
  return address;
}

// A distance that PTX's instructions take as a part of their address.
bool IsNear(int64_t distance) { return distance > -(1 << 23) && distance < (1 << 23); }

}  // namespace

llvm::PreservedAnalyses NeighbourAddressesPass::run(llvm::Function& function,
                                                    llvm::FunctionAnalysisManager& analyses) {
  const auto& tree = analyses.getResult<llvm::DominatorTreeAnalysis>(function);
  const llvm::DataLayout& layout = function.getDataLayout();
  struct Known {
    llvm::GetElementPtrInst* gep;
    int64_t constant;
  };
  struct Neighbour {
    llvm::GetElementPtrInst *gep, *leader;
    int64_t distance;
  };
  std::map<std::pair<llvm::Value*, std::map<llvm::Value*, int64_t>>, std::vector<Known>> leaders;
  std::vector<Neighbour> neighbours;
  for (llvm::BasicBlock& block : function)
    for (llvm::Instruction& i : block) {
      auto* const gep = llvm::dyn_cast<llvm::GetElementPtrInst>(&i);
      if (gep == nullptr || gep->getType()->isVectorTy() || !gep->isInBounds()) continue;
      Address address = TakeApart(*gep, layout);
      if (address.factors.empty()) continue;
      std::vector<Known>& known = leaders[{address.base, std::move(address.factors)}];
      const auto leader = std::find_if(known.begin(), known.end(), [&](const Known& other) {
        return IsNear(address.constant - other.constant) && tree.dominates(other.gep, gep);
      });
      if (leader == known.end())
        known.push_back({gep, address.constant});
      else
        neighbours.push_back({gep, leader->gep, address.constant - leader->constant});
    }
  for (const Neighbour& n : neighbours) {
    llvm::IRBuilder<> b(n.gep);
    n.gep->replaceAllUsesWith(
        n.distance == 0 ? static_cast<llvm::Value*>(n.leader)
                        : b.CreateInBoundsGEP(b.getInt8Ty(), n.leader,
                                              b.getInt64(static_cast<uint64_t>(n.distance))));
  }
  return llvm::PreservedAnalyses::none();
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
