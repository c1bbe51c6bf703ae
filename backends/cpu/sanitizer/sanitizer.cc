// Checks that compiled code calls where its own fast ones fail, and the words of findings.
//
//   %add.3 (add, f32[8]): reads element 9 (bytes 36 to 40) of operand 0, beyond its end
// An address is translated back in two steps: the buffer assignment says which array of which
// instruction lies there (RoleIn), and the array's layout which element that is (IndexText). The
// first finding of a site is kept, so that a loop of a million wrong accesses gives one message; at
// most kMaxFindings are. The run goes on, since accesses out of bounds are not done.
#include "backends/cpu/sanitizer/sanitizer_internal.h"

#include <algorithm>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "backends/cpu/sanitizer/shadow_memory_internal.h"
#include "ir/module.h"
#include "support/diagnostics.h"
#include "support/status.h"

namespace hlokit {
namespace {

struct Role {
  std::string text;              // "operand 0, %p"
  const Shape* shape = nullptr;  // of the array; null: not found
};

// As what `i` has the slice: a result, an operand, or an array of what it calls.
Role RoleIn(const BufferAssignment& buffers, const Instruction& i, const Slice& slice) {
  const auto leaf_of = [&](const Instruction* x) -> int64_t {
    const auto slices = buffers.slices(x);
    const auto found = std::find(slices.begin(), slices.end(), slice);
    return found == slices.end() ? -1 : found - slices.begin();
  };
  const auto shape_of = [](const Instruction* x, int64_t leaf) {
    return x->shape().IsTuple() ? Leaves(x->shape())[leaf].shape : &x->shape();
  };
  std::vector<std::string> roles;
  const Shape* shape = nullptr;
  if (const int64_t leaf = leaf_of(&i); leaf >= 0) {
    roles.push_back(i.shape().IsTuple() ? absl::StrCat("result ", leaf) : "the result");
    shape = shape_of(&i, leaf);
  }
  for (int64_t o = 0; o < i.operand_count(); ++o) {
    const int64_t leaf = leaf_of(i.operand(o));
    if (leaf < 0) continue;
    roles.push_back(absl::StrCat("operand ", o, " (%", i.operand(o)->name(), ")"));
    shape = shape_of(i.operand(o), leaf);
  }
  if (!roles.empty()) return {absl::StrJoin(roles, " and "), shape};
  for (const Computation* called : i.called())
    for (const Instruction* inner : called->Instructions())
      if (const int64_t leaf = leaf_of(inner); leaf >= 0)
        return {absl::StrCat("%", inner->name()), shape_of(inner, leaf)};
  return {};
}

std::string Where(const Slice& slice) {
  const std::string range = absl::StrCat("bytes ", slice.offset, " to ", slice.offset + slice.size);
  switch (slice.kind) {
    case Slice::Kind::kArena:
      return absl::StrCat("temporary memory, ", range);
    case Slice::Kind::kParameter:
      return absl::StrCat("argument array ", slice.index);
    case Slice::Kind::kConstant:
      return absl::StrCat("constant ", slice.index);
    case Slice::Kind::kOutput:
      return absl::StrCat("result array ", slice.index);
    case Slice::Kind::kNone:
      break;
  }
  return "nothing";
}

// The element at a position in memory, by dimension.
std::string IndexText(const Shape& shape, int64_t position) {
  std::vector<int64_t> index(shape.rank());
  for (int64_t d : shape.MinorToMajor()) {
    index[d] = position % shape.dims[d];
    position /= shape.dims[d];
  }
  return absl::StrCat("[", absl::StrJoin(index, ","), "]");
}

std::string Named(const Instruction& i) {
  std::string text = absl::StrCat("%", i.name(), " (", Text(i.opcode()), ", ", Text(i.shape()),
                                  ") of computation ", i.parent()->name());
  return text;
}

const char* AccessText(CheckedSite::Kind kind) {
  return kind == CheckedSite::Kind::kWrite ? "write" : "read";
}

}  // namespace

int64_t Sanitizer::AddSite(CheckedSite site) {
  const std::lock_guard<std::mutex> lock(mutex_);
  sites_.push_back(std::move(site));
  reported_.push_back(false);
  return static_cast<int64_t>(sites_.size()) - 1;
}

uint8_t Sanitizer::TagOf(const Slice& slice) {
  uint64_t bits = static_cast<uint64_t>(slice.kind) + 1;
  for (const int64_t field : {slice.index, slice.offset, slice.size})
    bits = (bits ^ static_cast<uint64_t>(field)) * 0x9e3779b97f4a7c15U;
  return static_cast<uint8_t>(1 + (bits >> 32) % 255);
}

bool Sanitizer::MayWrite(const ArrayNote& note) const {
  if (note.slice.kind != Slice::Kind::kArena && note.slice.kind != Slice::Kind::kOutput)
    return false;
  const Instruction* i = note.instruction;
  const bool copies = i == nullptr || i->opcode() == Opcode::kWhile ||
                      i->opcode() == Opcode::kConditional || i->opcode() == Opcode::kCall;
  if (copies) return true;
  const auto results = buffers_.slices(i);
  return std::find(results.begin(), results.end(), note.slice) != results.end();
}

std::string Sanitizer::Subject(const CheckedSite& site) const {
  const Instruction* runs = site.array >= 0 ? arrays_[site.array].instruction : nullptr;
  const Instruction* i = site.instruction != nullptr ? site.instruction : runs;
  if (i == nullptr) return "at the end of the program";
  std::string text = Named(*i);
  if (runs != nullptr && runs != i) absl::StrAppend(&text, " inside ", Named(*runs));
  return text;
}

std::string Sanitizer::PlaceText(const CheckedSite& site, int64_t offset, int64_t bytes) const {
  const std::string range = absl::StrCat("bytes ", offset, " to ", offset + bytes);
  if (site.array < 0) return absl::StrCat(range, " of ", site.what);
  const ArrayNote& note = arrays_[site.array];
  Role role;
  if (note.instruction != nullptr) role = RoleIn(buffers_, *note.instruction, note.slice);
  if (role.shape == nullptr)
    return absl::StrCat(range, " of an array of ", note.slice.size, " bytes (", Where(note.slice),
                        ")");
  const Shape& shape = *role.shape;
  const int64_t width =
      std::max<int64_t>(1, shape.ByteSize() / std::max<int64_t>(1, shape.ElementCount()));
  const int64_t element = offset >= 0 ? offset / width : -((width - 1 - offset) / width);
  const bool inside = offset >= 0 && element < shape.ElementCount();
  return absl::StrCat("element ", inside ? IndexText(shape, element) : absl::StrCat(element), ", ",
                      range, ", of ", role.text, ", ", Text(shape, /*layout=*/true), " of ",
                      note.slice.size, " bytes (", Where(note.slice), ")");
}

void Sanitizer::Add(int64_t site, std::string text) {
  const CheckedSite& at = sites_[site];
  const std::lock_guard<std::mutex> lock(mutex_);
  if (reported_[site]) return;
  reported_[site] = true;
  if (findings_.size() >= kMaxFindings) return;
  absl::Status status = FailedPrecondition(Subject(at), ": ", text);
  const Instruction* runs = at.array >= 0 ? arrays_[at.array].instruction : nullptr;
  const Instruction* i = at.instruction != nullptr ? at.instruction : runs;
  findings_.push_back(i != nullptr ? WithPlace(std::move(status), i->place()) : status);
}

bool Sanitizer::Check(const Access& a) {
  const CheckedSite& site = sites_[a.site];
  const int64_t offset = a.address - a.base;
  if (a.bytes == 0) return true;
  if (offset < 0 || offset > a.size || a.bytes > a.size - offset) {
    Add(a.site,
        absl::StrCat(AccessText(site.kind), " out of bounds: ", PlaceText(site, offset, a.bytes)));
    return false;
  }
  if (reinterpret_cast<uintptr_t>(a.address) % static_cast<uint64_t>(site.alignment) != 0)
    Add(a.site, absl::StrCat("misaligned ", AccessText(site.kind), ", not at a multiple of ",
                             site.alignment, " bytes: ", PlaceText(site, offset, a.bytes)));
  if (site.kind == CheckedSite::Kind::kWrite) {
    if (site.array >= 0 && !MayWrite(arrays_[site.array]))
      Add(a.site, absl::StrCat("write into an array that is only read: ",
                               PlaceText(site, offset, a.bytes)));
    if (a.tag != 0) std::memset(StateOf(a.address), a.tag, static_cast<size_t>(a.bytes));
    return true;
  }
  if (a.tag != 0) ReportState(a);
  return true;
}

void Sanitizer::CheckAlignment(int64_t site, const char* address) {
  const CheckedSite& at = sites_[site];
  if (reinterpret_cast<uintptr_t>(address) % static_cast<uint64_t>(at.alignment) != 0)
    Add(site, absl::StrCat("misaligned array, not at a multiple of ", at.alignment,
                           " bytes: ", PlaceText(at, 0, 1)));
}

void Sanitizer::ReportState(const Access& a) {
  const uint8_t* const state = StateOf(a.address);
  for (int64_t k = 0; k < a.bytes; ++k) {
    if (state[k] == a.tag) continue;
    const char* const fault = state[k] == kUnwritten ? "read of bytes that nothing wrote: "
                                                     : "read of bytes that another array wrote: ";
    return Add(a.site,
               absl::StrCat(fault, PlaceText(sites_[a.site], a.address + k - a.base, a.bytes - k)));
  }
}

void Sanitizer::Begin(char* array, int64_t size) {
  std::memset(StateOf(array), kUnwritten, static_cast<size_t>(size));
}

void Sanitizer::End(int64_t site, char* array, int64_t size, uint8_t tag) {
  uint8_t* const state = StateOf(array);
  int64_t k = 0;
  while (k < size && state[k] == tag) ++k;
  if (k == size) return;
  Add(site, absl::StrCat("result left unwritten: ", PlaceText(sites_[site], k, 1)));
  std::memset(state, tag, static_cast<size_t>(size));  // one finding is enough
}

void Sanitizer::ReportOverflow(int64_t site, int64_t a, int64_t b) {
  Add(site, absl::StrCat("index arithmetic overflows: ", sites_[site].what, " of ", a, " and ", b));
}

void Sanitizer::AddStatic(const absl::Status& finding) {
  if (!finding.ok()) findings_.push_back(finding);
}

std::vector<absl::Status> Sanitizer::Findings() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return findings_;
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
