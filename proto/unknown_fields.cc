// What messages hold beyond what the IR does, found and put back by reflection.
//
//   read      {name: "a", id: 1, new_field: 5, sharding: {type: 1, new: 2}}
//   written   {name: "a", id: 1,               sharding: {type: 1}}
//   unknown   {                  new_field: 5, sharding: {        new: 2}}
// FieldList that the written message lacks are taken whole; messages in both are compared inside;
// lists are compared member by member where they are equally long. Writing merges the unknown part
// into the message again. A module that was changed in between keeps what still has its place.
#include "proto/unknown_fields_internal.h"

#include <google/protobuf/util/field_mask_util.h>

#include <algorithm>
#include <memory>

namespace hlokit {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using google::protobuf::Reflection;
using FieldList = std::vector<const FieldDescriptor*>;

FieldList SetFields(const Message& message) {
  FieldList fields;
  message.GetReflection()->ListFields(message, &fields);
  return fields;
}

bool IsMessage(const FieldDescriptor* field) {
  return field->cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE;
}

bool IsSet(const Message& message, const FieldDescriptor* field) {
  const Reflection* r = message.GetReflection();
  return field->is_repeated() ? r->FieldSize(message, field) > 0 : r->HasField(message, field);
}

// Copies one field from a message of the same type.
void CopyField(const Message& from, const FieldDescriptor* field, Message* to) {
  google::protobuf::FieldMask mask;
  mask.add_paths(field->name());
  google::protobuf::util::FieldMaskUtil::MergeMessageTo(from, mask, {}, to);
}

bool Collect(const Message& full, const Message& written, absl::Span<const int> without,
             Message* unknown);

bool CollectField(const Message& full, const Message& written, const FieldDescriptor* field,
                  Message* unknown) {
  if (!IsSet(written, field)) {
    CopyField(full, field, unknown);
    return true;
  }
  if (!IsMessage(field) || field->is_map()) return false;
  const Reflection* r = full.GetReflection();
  if (!field->is_repeated()) {
    std::unique_ptr<Message> part(r->GetMessage(full, field).New());
    if (!Collect(r->GetMessage(full, field), r->GetMessage(written, field), {}, part.get()))
      return false;
    r->MutableMessage(unknown, field)->CopyFrom(*part);
    return true;
  }
  const int size = r->FieldSize(full, field);
  if (r->FieldSize(written, field) != size) return false;
  bool any = false;
  for (int i = 0; i < size; ++i)
    any |= Collect(r->GetRepeatedMessage(full, field, i), r->GetRepeatedMessage(written, field, i),
                   {}, r->AddMessage(unknown, field));
  if (!any) r->ClearField(unknown, field);
  return any;
}

// True if anything is missing in `written`.
bool Collect(const Message& full, const Message& written, absl::Span<const int> without,
             Message* unknown) {
  const Reflection* r = full.GetReflection();
  bool any = !r->GetUnknownFields(full).empty();
  if (any) r->MutableUnknownFields(unknown)->MergeFrom(r->GetUnknownFields(full));
  for (const FieldDescriptor* field : SetFields(full))
    if (std::find(without.begin(), without.end(), field->number()) == without.end())
      any |= CollectField(full, written, field, unknown);
  return any;
}

void Restore(const Message& unknown, Message* out) {
  const Reflection* r = unknown.GetReflection();
  r->MutableUnknownFields(out)->MergeFrom(r->GetUnknownFields(unknown));
  for (const FieldDescriptor* field : SetFields(unknown)) {
    if (!IsSet(*out, field)) {
      CopyField(unknown, field, out);
    } else if (IsMessage(field) && !field->is_map()) {
      if (!field->is_repeated()) {
        Restore(r->GetMessage(unknown, field), r->MutableMessage(out, field));
        continue;
      }
      const int size = r->FieldSize(unknown, field);
      if (r->FieldSize(*out, field) != size) continue;  // a pass changed the list
      for (int i = 0; i < size; ++i)
        Restore(r->GetRepeatedMessage(unknown, field, i), r->MutableRepeatedMessage(out, field, i));
    }
  }
}

}  // namespace

const std::string UnknownFields::kNone;

std::string UnknownFieldsOf(const Message& full, const Message& written,
                            absl::Span<const int> without) {
  std::unique_ptr<Message> unknown(full.New());
  return Collect(full, written, without, unknown.get()) ? unknown->SerializeAsString() : "";
}

void RestoreUnknownFields(const std::string& unknown, Message* out) {
  if (unknown.empty()) return;
  std::unique_ptr<Message> message(out->New());
  if (message->ParseFromString(unknown)) Restore(*message, out);
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
