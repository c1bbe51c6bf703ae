// Errors and events of the PJRT C API.
//
// An error is a Status in a handle; its codes are the numbers of absl::StatusCode, so nothing is
// translated. An event says when something that was started is done: it is an Event of client/,
// which may have happened already. The caller may wait, poll, or leave a function that is called
// once, on the thread that sets the event (or at once where it has been set). Events that the
// caller makes and sets itself hold a source too.
#include <string>

#include "pjrt/guarded.h"

namespace hlokit {
namespace {

void Destroy(PJRT_Error* error) { delete error; }
void Message(const PJRT_Error* error, const char** message, size_t* size) {
  *message = error->message.data();
  *size = error->message.size();
}
PJRT_Error_Code Code(const PJRT_Error* error) {
  return static_cast<PJRT_Error_Code>(error->status.code());
}
void ForEachPayload(const PJRT_Error*, PJRT_Error_PayloadVisitor, void*) {}

constexpr PJRT_Error_FunctionTable kErrorTable = {sizeof(PJRT_Error_FunctionTable),
                                                  sizeof(PJRT_Error),
                                                  nullptr,
                                                  Destroy,
                                                  Message,
                                                  Code,
                                                  ForEachPayload};

}  // namespace

PJRT_Error* MakeError(const absl::Status& status) {
  if (status.ok()) return nullptr;
  return new PJRT_Error{&kErrorTable, status, std::string(status.message())};
}

absl::Status StatusOf(int code, const char* message, size_t size) {
  const absl::string_view text =
      message == nullptr ? absl::string_view() : absl::string_view(message, size);
  return absl::Status(static_cast<absl::StatusCode>(code), text);
}

absl::Status PjrtError_Destroy(PJRT_Error_Destroy_Args& args) {
  delete args.error;
  return absl::OkStatus();
}

absl::Status PjrtError_Message(PJRT_Error_Message_Args& args) {
  GiveText(args.error->message, args.message, args.message_size);
  return absl::OkStatus();
}

absl::Status PjrtError_GetCode(PJRT_Error_GetCode_Args& args) {
  args.code = Code(args.error);
  return absl::OkStatus();
}

// There are no payloads that a framework would know.
absl::Status PjrtError_ForEachPayload(PJRT_Error_ForEachPayload_Args&) { return absl::OkStatus(); }

PJRT_Event* ReadyEvent() {
  static auto* const event = new PJRT_Event;
  return event;
}

absl::Status PjrtEvent_Destroy(PJRT_Event_Destroy_Args& args) {
  if (args.event != ReadyEvent()) delete args.event;
  return absl::OkStatus();
}

absl::Status PjrtEvent_IsReady(PJRT_Event_IsReady_Args& args) {
  args.is_ready = args.event->event.IsReady();
  return absl::OkStatus();
}

absl::Status PjrtEvent_Error(PJRT_Event_Error_Args& args) {
  if (!args.event->event.IsReady()) return FailedPrecondition("the event has not happened");
  return args.event->event.Await();
}

absl::Status PjrtEvent_Await(PJRT_Event_Await_Args& args) { return args.event->event.Await(); }

absl::Status PjrtEvent_OnReady(PJRT_Event_OnReady_Args& args) {
  if (args.callback == nullptr) return InvalidArgument("the callback is null");
  if (args.event == ReadyEvent()) {
    args.callback(nullptr, args.user_arg);
    return absl::OkStatus();
  }
  args.event->event.OnReady([callback = args.callback, user = args.user_arg](
                                const absl::Status& status) { callback(MakeError(status), user); });
  return absl::OkStatus();
}

absl::Status PjrtEvent_Create(PJRT_Event_Create_Args& args) {
  auto source = std::make_unique<EventSource>();
  Event event = source->event();
  args.event = new PJRT_Event{std::move(event), std::move(source)};
  return absl::OkStatus();
}

absl::Status PjrtEvent_Set(PJRT_Event_Set_Args& args) {
  if (args.event->source == nullptr)
    return InvalidArgument("only events of PJRT_Event_Create are set by the caller");
  args.event->source->Set(StatusOf(args.error_code, args.error_message, args.error_message_size));
  return absl::OkStatus();
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
