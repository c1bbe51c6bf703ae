// Messages of instructions taken apart: what ties one to others, and what recurs in a module
// (shapes, metadata, opcodes with their attributes), which is read once.
#pragma once

#include <deque>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "ir/module.h"
#include "proto/messages_internal.h"
#include "proto/wire_internal.h"
#include "support/shared.h"
#include "support/shared_text.h"
#include "support/text_table.h"

namespace hlokit {

// A field that is read from its bytes: a message, or a list of numbers, packed.
struct InstructionPart : WireField {
  InstructionPart() { type = WireType::kBytes; }
  std::string* joined = nullptr;  // holds the content that the message gave in pieces
};

// What an instruction's message says of it and its neighbours in numbers.
struct InstructionLinks {
  int64_t id = 0;
  int64_t parameter_number = 0, tuple_index = 0, channel_id = 0;
  InstructionPart operands, predecessors, called;
};

class RecurringParts {
 public:
  // Takes the message of an instruction apart, as libprotobuf would read it; the bytes must live as
  // long as this. False where they are no message.
  bool Split(absl::string_view instruction);
  absl::string_view name() const { return name_; }
  // Whether the name is one as it stands (SanitizedName).
  bool HasUsualName() const { return usual_name_; }
  const InstructionLinks& links() const { return links_; }
  // The message without name, links, shape and metadata, after Split.
  absl::string_view others() const { return others_; }
  // An instruction of the shape and operands, made of what equal others() were read as; null where
  // none were.
  std::unique_ptr<Instruction> MakeKnown(const Shared<Shape>& shape,
                                         absl::Span<Instruction* const> operands) const;
  // Keeps a copy of what others() were just read as, for MakeKnown().
  void Keep(const Instruction& read);
  // What the shape and the metadata were read as before; null where they were not.
  const Shared<Shape>* KnownShape() const { return shapes_.Find(shape_bytes_.content); }
  const Shared<OpMetadata>* KnownMetadata() const {
    static const Shared<OpMetadata>* const none = new Shared<OpMetadata>;
    return metadata_bytes_.content.empty() ? none : metadatas_.Find(metadata_bytes_.content);
  }
  // Errors: DataLoss for bytes that are no message; else as Read in shapes_internal.h.
  absl::StatusOr<Shared<Shape>> ReadShape(Seen& seen) {
    return ReadShape(shape_bytes_.content, seen);
  }
  // The same; nothing where there is none.
  absl::StatusOr<Shared<OpMetadata>> ReadMetadata(Seen& seen);
  // What a ProgramShapeProto says. False, with any value in the layout, where libprotobuf has to
  // look at it: it is broken, has no one result, or fields without a place in the IR.
  bool ReadProgramShape(absl::string_view program_shape, EntryLayout& layout);
  // Whether a ProgramShapeProto has nothing in it but names and shapes that were read before and
  // had no fields without a place in the IR.
  bool Knows(absl::string_view program_shape) const;

 private:
  // Takes the field that starts with this tag unless it is one of the others; false where it is
  // broken.
  [[gnu::always_inline]] inline bool TakeField(uint64_t tag, const char* start, WireReader& reader,
                                               bool& taken);
  bool TakeNumber(uint64_t tag, uint64_t number, bool& taken);
  // Takes the content of a part; after the first time it is joined to what there is.
  [[gnu::always_inline]] bool TakePart(WireReader& reader, InstructionPart& part) {
    absl::string_view content;
    if (!reader.Content(content)) return false;
    if (part.content.data() != nullptr) return Join(content, part);
    part.content = content;
    part.readable = reader.readable();
    return true;
  }
  bool JoinNumber(uint64_t number, InstructionPart& part);
  bool Join(absl::string_view bytes, InstructionPart& part);
  inline void AppendOthers(absl::string_view fields);
  void AppendManyOthers(absl::string_view fields);
  absl::StatusOr<Shared<Shape>> ReadShape(absl::string_view bytes, Seen& seen);

  absl::string_view name_, others_;
  bool usual_name_ = false;
  InstructionPart shape_bytes_, metadata_bytes_;
  InstructionLinks links_;
  char few_others_[128];            // where others_ is not in one piece
  std::string many_others_;         // and not short
  std::deque<std::string> joined_;  // parts that messages gave in pieces
  pb::ShapeProto shape_;
  pb::OpMetadata metadata_;
  SharedTextCache texts_;
  TextTable<Shared<Shape>> shapes_;
  TextTable<Shared<OpMetadata>> metadatas_;
  TextTable<std::unique_ptr<Instruction>> known_;
  std::deque<std::string> known_texts_;  // of the table
};

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
