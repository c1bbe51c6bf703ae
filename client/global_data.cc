// Values of executions, and their copies in the host's memory.
#include "client/global_data.h"

namespace hlokit {

const DeviceValue& GlobalData::value() const {
  if (pending_ || array_)
    std::call_once(resolved_, [this] {
      if (array_)
        value_ = DeviceValue::TakeOver(*std::move(array_), /*in_layout=*/true);
      else if (auto result = pending_->first.Result(pending_->second); result.ok())
        value_ = *std::move(result);
    });
  return value_;
}

std::shared_ptr<const Literal> GlobalData::shared_literal() const {
  if (auto literal = value().host_literal(); literal != nullptr) return literal;
  std::call_once(copied_, [this] {
    auto copy = value_.ToHost();
    copy_ = std::make_shared<Literal>(copy.ok() ? *std::move(copy) : Literal());
  });
  return copy_;
}

const Literal& GlobalData::literal() const { return *shared_literal(); }

const void* GlobalData::elements() const {
  if (elements_ != nullptr) return elements_;
  if (!shape().IsArray()) return nullptr;
  const absl::Span<const Buffer> leaves = value().leaves();
  if (!leaves.empty() && leaves[0].shape.IsRowMajor())
    if (const void* const here = leaves[0].memory->host_address(); here != nullptr) return here;
  return literal().data();
}

Literal* GlobalData::unshared_literal() {
  value();
  return value_.unshared_literal();
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
