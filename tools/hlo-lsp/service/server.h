// The language server: documents, requests, and a thread that analyses what has changed.
#pragma once

#include <atomic>
#include <condition_variable>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <thread>

#include "tools/hlo-lsp/service/document.h"
#include "tools/hlo-lsp/service/rpc.h"

namespace hlokit {

// Three threads: one reads messages (so that a request can be cancelled before its turn), one
// answers them in order, one parses and verifies the newest text of each document that changed.
class LanguageServer {
 public:
  explicit LanguageServer(RpcStream& stream) : stream_(stream) {}

  // Serves until `exit` or the input's end; returns the exit status: 0 after `shutdown`, else 1, or
  // 2 where the input was no such protocol.
  int Run();

 private:
  struct Handler;
  static const std::map<std::string, Handler>& Handlers();

  void ReadMessages();
  void AnalyseChanges();
  // False after `exit`.
  bool Handle(const Json& message);
  void HandleRequest(const Json& id, const std::string& method, const Json& params);
  void HandleNotification(const std::string& method, const Json& params);

  Json Initialize(const Json& params);
  void Open(const Json& params);
  void Change(const Json& params);
  void Close(const Json& params);
  // Answers when the tool has ended.
  void Execute(const Json& id, const Json& params);

  void Reply(const Json& id, Json result);
  void ReplyError(const Json& id, int code, const std::string& message);
  void Notify(const std::string& method, Json params);

  // Has a document analysed soon.
  void Schedule(Document& document);
  // The document of `params`; null where it is not open.
  Document* DocumentOf(const Json& params);

  RpcStream& stream_;

  std::mutex incoming_lock_;
  std::condition_variable incoming_came_;
  std::deque<absl::StatusOr<std::string>> incoming_;  // an error is the last
  std::set<std::string> cancelled_;                   // ids, as JSON text

  std::mutex documents_lock_;  // of documents_ and what they hold
  std::map<std::string, std::unique_ptr<Document>> documents_;

  struct Pending {
    std::shared_ptr<const std::string> text;
    int64_t version = 0;
  };
  std::mutex pending_lock_;
  std::condition_variable pending_came_;
  std::map<std::string, Pending> pending_;  // by uri
  bool ending_ = false;

  bool initialized_ = false, shut_down_ = false;
  bool shows_documents_ = false;  // the client does
  std::atomic<int64_t> next_request_ = 1;
  std::atomic<int> running_commands_ = 0;
};

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
