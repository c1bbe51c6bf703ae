// Constants and the globals that hold them.
#include "codegen/constant_data.h"

#include <vector>

namespace hlokit {

llvm::Constant* ConstantData::Ints(absl::Span<const int64_t> values) {
  if (values.empty()) return Null();
  const std::vector<uint64_t> bits(values.begin(), values.end());
  return Global(llvm::ConstantDataArray::get(module_.getContext(), bits), 8);
}

llvm::GlobalVariable* ConstantData::Bytes(absl::string_view bytes, bool zero, int64_t alignment) {
  return Global(
      llvm::ConstantDataArray::getString(module_.getContext(), {bytes.data(), bytes.size()}, zero),
      alignment);
}

llvm::Constant* ConstantData::Struct(llvm::ArrayRef<llvm::Constant*> fields) {
  return llvm::ConstantStruct::getAnon(module_.getContext(), fields);
}

llvm::Constant* ConstantData::Structs(llvm::ArrayRef<llvm::Constant*> rows) {
  if (rows.empty()) return Null();
  auto* type = llvm::ArrayType::get(rows[0]->getType(), rows.size());
  return Global(llvm::ConstantArray::get(type, rows), 8);
}

llvm::GlobalVariable* ConstantData::Global(llvm::Constant* value, int64_t alignment,
                                           const std::string& name) {
  auto* global = new llvm::GlobalVariable(
      module_, value->getType(), /*isConstant=*/true,
      name.empty() ? llvm::GlobalValue::PrivateLinkage : llvm::GlobalValue::ExternalLinkage, value,
      name);
  global->setAlignment(llvm::Align(alignment));
  return global;
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
