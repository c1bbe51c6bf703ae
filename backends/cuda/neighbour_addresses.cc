// Each address is taken apart into a base, a constant and factors of what is not constant,
//
//   gep float, x, (row * 1000 + (lane + 1))   =   x + 4000 * row + 4 * lane + 4
//
// sums and products being followed while they do not wrap, so that the sum of the parts, each
// widened, is the widened whole. Of those with the same base and factors the first one that
// dominates an address gives it. One walk over the function; a comparison of short lists an address.
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

  bool IsNear(const Address& other) const {
    return base == other.base && factors == other.factors;
  }
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
    Address address;
    llvm::GetElementPtrInst* gep;
  };
  std::map<llvm::Value*, std::vector<Known>> by_base;
  std::vector<llvm::GetElementPtrInst*> all;
  for (llvm::BasicBlock& block : function)
    for (llvm::Instruction& i : block)
      if (auto* const gep = llvm::dyn_cast<llvm::GetElementPtrInst>(&i);
          gep != nullptr && !gep->getType()->isVectorTy() && gep->isInBounds())
        all.push_back(gep);
  for (llvm::GetElementPtrInst* const gep : all) {
    Address address = TakeApart(*gep, layout);
    if (address.factors.empty()) continue;
    std::vector<Known>& known = by_base[address.base];
    const auto leader = std::find_if(known.begin(), known.end(), [&](const Known& other) {
      return other.address.IsNear(address) && tree.dominates(other.gep, gep) &&
             IsNear(address.constant - other.address.constant);
    });
    if (leader == known.end()) {
      known.push_back({std::move(address), gep});
      continue;
    }
    llvm::IRBuilder<> b(gep);
    const int64_t distance = address.constant - leader->address.constant;
    gep->replaceAllUsesWith(distance == 0
                                ? static_cast<llvm::Value*>(leader->gep)
                                : b.CreateInBoundsGEP(b.getInt8Ty(), leader->gep,
                                                      b.getInt64(static_cast<uint64_t>(distance))));
  }
  return llvm::PreservedAnalyses::none();
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
