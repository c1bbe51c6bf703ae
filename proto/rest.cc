// What messages hold beyond what the IR does, found and put back by reflection.
#include "proto/rest_internal.h"

#include <google/protobuf/util/field_mask_util.h>

#include <algorithm>
#include <memory>

namespace hlokit {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using google::protobuf::Reflection;
using Fields = std::vector<const FieldDescriptor*>;

Fields SetFields(const Message& message) {
  Fields fields;
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
             Message* rest);

bool CollectField(const Message& full, const Message& written, const FieldDescriptor* field,
                  Message* rest) {
  if (!IsSet(written, field)) {
    CopyField(full, field, rest);
    return true;
  }
  if (!IsMessage(field) || field->is_map()) return false;
  const Reflection* r = full.GetReflection();
  if (!field->is_repeated()) {
    std::unique_ptr<Message> part(r->GetMessage(full, field).New());
    if (!Collect(r->GetMessage(full, field), r->GetMessage(written, field), {}, part.get()))
      return false;
    r->MutableMessage(rest, field)->CopyFrom(*part);
    return true;
  }
  const int size = r->FieldSize(full, field);
  if (r->FieldSize(written, field) != size) return false;
  bool any = false;
  for (int i = 0; i < size; ++i)
    any |= Collect(r->GetRepeatedMessage(full, field, i), r->GetRepeatedMessage(written, field, i),
                   {}, r->AddMessage(rest, field));
  if (!any) r->ClearField(rest, field);
  return any;
}

// True if anything is missing in `written`.
bool Collect(const Message& full, const Message& written, absl::Span<const int> without,
             Message* rest) {
  const Reflection* r = full.GetReflection();
  bool any = !r->GetUnknownFields(full).empty();
  if (any) r->MutableUnknownFields(rest)->MergeFrom(r->GetUnknownFields(full));
  for (const FieldDescriptor* field : SetFields(full))
    if (std::find(without.begin(), without.end(), field->number()) == without.end())
      any |= CollectField(full, written, field, rest);
  return any;
}

void Restore(const Message& rest, Message* out) {
  const Reflection* r = rest.GetReflection();
  r->MutableUnknownFields(out)->MergeFrom(r->GetUnknownFields(rest));
  for (const FieldDescriptor* field : SetFields(rest)) {
    if (!IsSet(*out, field)) {
      CopyField(rest, field, out);
    } else if (IsMessage(field) && !field->is_map()) {
      if (!field->is_repeated()) {
        Restore(r->GetMessage(rest, field), r->MutableMessage(out, field));
        continue;
      }
      const int size = r->FieldSize(rest, field);
      if (r->FieldSize(*out, field) != size) continue;  // a pass changed the list
      for (int i = 0; i < size; ++i)
        Restore(r->GetRepeatedMessage(rest, field, i), r->MutableRepeatedMessage(out, field, i));
    }
  }
}

}  // namespace

const std::string ProtoRest::kNone;

std::string RestOf(const Message& full, const Message& written, absl::Span<const int> without) {
  std::unique_ptr<Message> rest(full.New());
  return Collect(full, written, without, rest.get()) ? rest->SerializeAsString() : "";
}

void AddRest(const std::string& rest, Message* out) {
  if (rest.empty()) return;
  std::unique_ptr<Message> message(out->New());
  if (message->ParseFromString(rest)) Restore(*message, out);
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
