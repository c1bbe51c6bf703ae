// Blocks of a count and the bytes after it.
#include "support/shared_text.h"

#include <cstring>
#include <new>

#include "support/text.h"

namespace hlokit {

SharedText::Block* SharedText::MakeBlock(absl::string_view text) {
  if (text.empty()) return nullptr;
  auto* block = new (::operator new(sizeof(Block) + text.size())) Block{{1}, text.size()};
  std::memcpy(Bytes(block), text.data(), text.size());
  return block;
}

void SharedText::Drop(Block* block) {
  if (block->owners.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
  block->~Block();
  ::operator delete(block);
}

SharedText SharedTextCache::Get(absl::string_view text) {
  if (text.empty()) return SharedText();
  SharedText& slot = slots_[HashText(text) % kSlots];
  if (slot.view() != text) slot = SharedText(text);
  return slot;
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
