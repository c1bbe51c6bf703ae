// Messages from and to bytes; libprotobuf's errors become statuses here.
//
// Binary, text and JSON encodings of one message. libprotobuf prints its complaints and returns a
// bool: the first complaint with its place becomes the status. It also writes strings that are not
// UTF-8, which it refuses to read; such a message is refused when it is written.
#include "proto/encoding_internal.h"

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/tokenizer.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>
#include <google/protobuf/stubs/logging.h>
#include <google/protobuf/text_format.h>
#include <google/protobuf/util/json_util.h>

#include <limits>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "proto/wire_internal.h"
#include "support/diagnostics.h"
#include "support/limits.h"
#include "support/status.h"

namespace hlokit {
namespace {

using google::protobuf::Message;
using google::protobuf::TextFormat;

constexpr int kDeepestOwn = 4 * kMaxNesting;  // what text may nest, in messages
constexpr size_t kMaxBytes = std::numeric_limits<int32_t>::max();
constexpr absl::string_view kExtras = "# hlokit: ";

// What libprotobuf last complained of: it writes texts that are not UTF-8, which nobody reads back,
// and says so in its log alone.
std::string& LibraryError() {
  thread_local std::string error;
  return error;
}

// libprotobuf also prints what it returns as an error.
void SilenceLibrary() {
  static const bool silenced = [] {
    google::protobuf::SetLogHandler([](google::protobuf::LogLevel, const char*, int,
                                       const std::string& message) { LibraryError() = message; });
    return true;
  }();
  static_cast<void>(silenced);
}

// Keeps the first error of a text file, and where it is.
class FirstError : public google::protobuf::io::ErrorCollector {
 public:
  explicit FirstError(absl::string_view text) : text_(text) {}

  void AddError(int line, google::protobuf::io::ColumnNumber column,
                const std::string& message) override {
    if (!status_.ok()) return;
    size_t start = 0;
    for (int i = 0; i < line && start < text_.size(); ++i)
      start = std::min(text_.find('\n', start), text_.size() - 1) + 1;
    const size_t offset = std::min(start + std::max(column, 0), text_.size());
    status_ = WithPlace(absl::InvalidArgumentError(message),
                        SourcePlace{static_cast<uint32_t>(offset), 1});
  }

  const absl::Status& status() const { return status_; }

 private:
  absl::string_view text_;
  absl::Status status_;
};

absl::Status DecodeText(absl::string_view bytes, const ProtoOptions& options, Message* message) {
  FirstError errors(bytes);
  TextFormat::Parser parser;
  parser.RecordErrorsTo(&errors);
  parser.SetRecursionLimit(kDeepest);
  parser.AllowUnknownField(options.allow_unknown_fields);
  google::protobuf::io::ArrayInputStream stream(bytes.data(), static_cast<int>(bytes.size()));
  if (parser.Parse(&stream, message)) return absl::OkStatus();
  return errors.status().ok() ? InvalidArgument("no ", message->GetDescriptor()->name())
                              : errors.status();
}

// JSON with `-0.0` for each number `-0`, which libprotobuf takes for an integer without a sign.
std::string WithSignedZeros(absl::string_view json) {
  std::string text;
  text.reserve(json.size() + 64);
  bool quoted = false;
  for (size_t i = 0; i < json.size(); ++i) {
    const char c = json[i];
    text += c;
    if (quoted && c == '\\' && i + 1 < json.size()) {
      text += json[++i];
    } else if (c == '"') {
      quoted = !quoted;
    } else if (!quoted && c == '-' && absl::StartsWith(json.substr(i + 1), "0")) {
      text += json[++i];
      const absl::string_view next = json.substr(i + 1, 1);
      if (next.empty() || absl::string_view(".eE0123456789").find(next) == next.npos) text += ".0";
    }
  }
  return text;
}

absl::Status DecodeJson(absl::string_view bytes, const ProtoOptions& options, Message* message) {
  std::string signed_zeros;
  if (absl::StrContains(bytes, "-0")) bytes = signed_zeros = WithSignedZeros(bytes);
  google::protobuf::util::JsonParseOptions json;
  json.ignore_unknown_fields = options.allow_unknown_fields;
  const auto read = google::protobuf::util::JsonStringToMessage(
      google::protobuf::StringPiece(bytes.data(), bytes.size()), message, json);
  if (read.ok()) return absl::OkStatus();
  return InvalidArgument(absl::string_view(read.message().data(), read.message().size()));
}

absl::Status DecodeBinary(absl::string_view bytes, Message* message) {
  if (message->ParseFromArray(bytes.data(), static_cast<int>(bytes.size())))
    return absl::OkStatus();
  return InvalidArgument(DescribeDamage(bytes, *message->GetDescriptor()));
}

absl::StatusOr<std::string> EncodeText(const Message& message) {
  std::string text;
  if (!TextFormat::PrintToString(message, &text)) return Internal("libprotobuf cannot print");
  return text;
}

absl::StatusOr<std::string> EncodeJson(const Message& message) {
  google::protobuf::util::JsonPrintOptions options;
  options.add_whitespace = true;
  options.preserve_proto_field_names = true;
  std::string text;
  const auto printed = google::protobuf::util::MessageToJsonString(message, &text, options);
  if (printed.ok()) return absl::StrContains(text, "-0") ? WithSignedZeros(text) : text;
  return InvalidArgument(absl::string_view(printed.message().data(), printed.message().size()));
}

}  // namespace

void ForgetLibraryError() {
  SilenceLibrary();
  LibraryError().clear();
}

absl::Status CheckTextsWritten() {
  const absl::string_view error = LibraryError();
  if (!absl::StrContains(error, "UTF-8")) return absl::OkStatus();
  const std::vector<absl::string_view> quoted = absl::StrSplit(error, '\'');  // around the field
  return InvalidArgument(quoted.size() > 1 ? quoted[1] : absl::string_view("a text"),
                         ": not UTF-8, which protobuf asks of texts");
}

absl::Status CheckSize(absl::string_view bytes) {
  SilenceLibrary();
  if (bytes.size() <= kMaxBytes) return absl::OkStatus();
  return InvalidArgument("the file has ", bytes.size(),
                         " bytes; protobuf ends at 2 GiB, and HLO text does not");
}

absl::Status Decode(absl::string_view bytes, ProtoEncoding encoding, const ProtoOptions& options,
                    Message* message) {
  RETURN_IF_ERROR(CheckSize(bytes));
  switch (encoding) {
    case ProtoEncoding::kBinary:
      return DecodeBinary(bytes, message);
    case ProtoEncoding::kText:
      return DecodeText(bytes, options, message);
    case ProtoEncoding::kJson:
      return DecodeJson(bytes, options, message);
  }
  return Internal("no such encoding");
}

absl::StatusOr<std::string> DecodeApart(absl::string_view bytes, ProtoEncoding encoding,
                                        const ProtoOptions& options, Message* others) {
  std::string first;
  if (encoding == ProtoEncoding::kBinary) {
    std::vector<absl::string_view> contents;
    std::string rest;
    if (!TakeField(bytes, 1, contents, rest))
      return InvalidArgument(DescribeDamage(bytes, *others->GetDescriptor()));
    for (const absl::string_view content : contents) first.append(content.data(), content.size());
    RETURN_IF_ERROR(Decode(rest, encoding, options, others));
    return first;
  }
  RETURN_IF_ERROR(Decode(bytes, encoding, options, others));
  const google::protobuf::FieldDescriptor* field = others->GetDescriptor()->FindFieldByNumber(1);
  others->GetReflection()->GetMessage(*others, field).SerializePartialToString(&first);
  return first;
}

absl::Status DecodeOwn(absl::string_view bytes, Message* message) {
  google::protobuf::io::CodedInputStream stream(reinterpret_cast<const uint8_t*>(bytes.data()),
                                                static_cast<int>(bytes.size()));
  stream.SetRecursionLimit(kDeepestOwn);
  return message->ParseFromCodedStream(&stream) ? absl::OkStatus()
                                                : Internal("a module's message does not read back");
}

void AppendBytes(const Message& message, std::string& out) {
  const size_t start = out.size();
  const size_t size = message.ByteSizeLong();  // which the writing below goes by
  if (size == 0) return;
  out.resize(start + size);
  google::protobuf::io::ArrayOutputStream stream(&out[start], static_cast<int>(size));
  google::protobuf::io::CodedOutputStream coded(&stream);
  coded.SetSerializationDeterministic(true);
  message.SerializeWithCachedSizes(&coded);
}

absl::Status CheckWrittenSize(size_t bytes) {
  if (bytes <= kMaxBytes) return absl::OkStatus();
  return InvalidArgument("as protobuf the module has ", bytes,
                         " bytes, and no reader takes more than 2 GiB; write text");
}

absl::StatusOr<std::string> Encode(const Message& message, ProtoEncoding encoding) {
  SilenceLibrary();
  RETURN_IF_ERROR(CheckWrittenSize(message.ByteSizeLong()));
  std::string bytes;
  switch (encoding) {
    case ProtoEncoding::kBinary:
      AppendBytes(message, bytes);
      return bytes;
    case ProtoEncoding::kText:
      return EncodeText(message);
    case ProtoEncoding::kJson:
      return EncodeJson(message);
  }
  return Internal("no such encoding");
}

absl::Status TakeExtrasComment(absl::string_view text, pb::HloModuleProto* module) {
  if (!absl::ConsumePrefix(&text, kExtras)) return absl::OkStatus();
  return Annotate(DecodeText(text.substr(0, text.find('\n')), {}, module->mutable_hlokit()),
                  "the comment of hlokit");
}

std::string ExtrasComment(const pb::HloModuleProto& module) {
  if (!module.has_hlokit()) return "";
  return absl::StrCat(kExtras, module.hlokit().ShortDebugString(), "\n");
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
