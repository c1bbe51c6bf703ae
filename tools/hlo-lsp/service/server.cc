// Requests that depend on positions are answered from the text as it is then; what comes from the
// module is that of the newest analysis.
//
// Three threads: one reads messages into a queue, one answers requests in their order, one analyses
// the newest text of documents that have changed and sends their diagnostics. The analysis takes a
// snapshot of the text (shared, copied by the next edit), so typing never waits for it; edits that
// come while one runs are joined into the next, and an analysis tells the version that it saw.
// The reading thread also takes requests back: a cancelled one that still waits is not begun.
// Requests are rows of a table; unknown methods answer that they are unknown.
#include "tools/hlo-lsp/service/server.h"

#include <cstdlib>
#include <limits>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "support/status.h"
#include "tools/common/exit_status.h"
#include "tools/hlo-lsp/service/commands.h"
#include "tools/hlo-lsp/service/features.h"

namespace hlokit {
namespace {

const Json& At(const Json& value, const char* key) {
  static const Json& nothing = *new Json();
  const auto found = value.is_object() ? value.find(key) : value.end();
  return value.is_object() && found != value.end() ? *found : nothing;
}

std::string TextAt(const Json& value, const char* key) {
  const Json& found = At(value, key);
  return found.is_string() ? found.get<std::string>() : "";
}

int64_t NumberAt(const Json& value, const char* key, int64_t otherwise) {
  const Json& found = At(value, key);
  return found.is_number_integer() ? found.get<int64_t>() : otherwise;
}

TextPosition PositionAt(const Json& params) { return PositionOf(At(params, "position")); }

TextRange RangeAt(const Json& params) {
  const Json& range = At(params, "range");
  return {PositionOf(At(range, "start")), PositionOf(At(range, "end"))};
}

// Of a change that tells none.
int64_t NextVersion(int64_t version) {
  return version < std::numeric_limits<int64_t>::max() ? version + 1 : version;
}

// `file:///a/b.hlo` as a message shows it.
std::string NameOf(const std::string& uri) {
  return absl::StartsWith(uri, "file://") ? uri.substr(7) : uri;
}

}  // namespace

// How a request about a document is answered.
struct LanguageServer::Handler {
  absl::StatusOr<Json> (*answer)(Document& document, const Json& params);
};

const std::map<std::string, LanguageServer::Handler>& LanguageServer::Handlers() {
  using D = Document;
  static const auto& handlers = *new std::map<std::string, Handler>{
      {"textDocument/definition",
       {[](D& d, const Json& p) -> absl::StatusOr<Json> { return Definition(d, PositionAt(p)); }}},
      {"textDocument/references", {[](D& d, const Json& p) -> absl::StatusOr<Json> {
         const Json& wish = At(At(p, "context"), "includeDeclaration");
         return References(d, PositionAt(p), !wish.is_boolean() || wish.get<bool>());
       }}},
      {"textDocument/documentHighlight",
       {[](D& d, const Json& p) -> absl::StatusOr<Json> { return Highlights(d, PositionAt(p)); }}},
      {"textDocument/hover",
       {[](D& d, const Json& p) -> absl::StatusOr<Json> { return Hover(d, PositionAt(p)); }}},
      {"textDocument/prepareRename", {[](D& d, const Json& p) -> absl::StatusOr<Json> {
         return PrepareRename(d, PositionAt(p));
       }}},
      {"textDocument/rename",
       {[](D& d, const Json& p) { return Rename(d, PositionAt(p), TextAt(p, "newName")); }}},
      {"textDocument/documentSymbol",
       {[](D& d, const Json&) -> absl::StatusOr<Json> { return Symbols(d); }}},
      {"textDocument/foldingRange",
       {[](D& d, const Json&) -> absl::StatusOr<Json> { return Folds(d); }}},
      {"textDocument/inlayHint",
       {[](D& d, const Json& p) -> absl::StatusOr<Json> { return InlayHints(d, RangeAt(p)); }}},
      {"textDocument/completion",
       {[](D& d, const Json& p) -> absl::StatusOr<Json> { return Completions(d, PositionAt(p)); }}},
      {"textDocument/codeAction",
       {[](D& d, const Json& p) -> absl::StatusOr<Json> { return CodeActions(d, RangeAt(p)); }}},
      {"textDocument/semanticTokens/full", {[](D& d, const Json&) -> absl::StatusOr<Json> {
         return SemanticTokens(d, 0, static_cast<int64_t>(d.buffer().line_count()));
       }}},
      {"textDocument/semanticTokens/range", {[](D& d, const Json& p) -> absl::StatusOr<Json> {
         const TextRange range = RangeAt(p);
         return SemanticTokens(d, range.start.line, range.end.line);
       }}},
  };
  return handlers;
}

int LanguageServer::Run() {
  std::thread reader([this] { ReadMessages(); });
  std::thread analyser([this] { AnalyseChanges(); });
  int exit_status = kExitCheckFailed;
  for (bool running = true; running;) {
    absl::StatusOr<std::string> body = std::string();
    {
      std::unique_lock<std::mutex> lock(incoming_lock_);
      incoming_came_.wait(lock, [this] { return !incoming_.empty(); });
      body = std::move(incoming_.front());
      incoming_.pop_front();
    }
    if (!body.ok()) {
      if (!absl::IsNotFound(body.status())) {
        ReplyError(Json(), kParseError, std::string(body.status().message()));
        exit_status = kExitUsage;
      }
      break;
    }
    const Json message = Json::parse(*body, nullptr, /*allow_exceptions=*/false);
    if (message.is_discarded()) {
      ReplyError(Json(), kParseError, "the message is no JSON");
      continue;
    }
    running = Handle(message);
  }
  if (shut_down_ && exit_status != kExitUsage) exit_status = kExitDone;
  {
    const std::lock_guard<std::mutex> lock(pending_lock_);
    ending_ = true;
  }
  pending_came_.notify_all();
  analyser.join();
  // A tool that still runs, and a read that still waits, end with the process.
  std::_Exit(exit_status);
}

void LanguageServer::ReadMessages() {
  for (;;) {
    absl::StatusOr<std::string> body = stream_.Read();
    const bool last = !body.ok();
    {
      const std::lock_guard<std::mutex> lock(incoming_lock_);
      // Cheap to look for: what is no cancellation is not parsed here.
      if (!last && body->size() < 512 && absl::StrContains(*body, "$/cancelRequest")) {
        const Json message = Json::parse(*body, nullptr, false);
        const Json& id = At(At(message, "params"), "id");
        if (TextAt(message, "method") == "$/cancelRequest" && !id.is_null()) {
          cancelled_.insert(id.dump());
          continue;
        }
      }
      incoming_.push_back(std::move(body));
    }
    incoming_came_.notify_one();
    if (last) return;
  }
}

bool LanguageServer::Handle(const Json& message) {
  if (!message.is_object()) {
    ReplyError(Json(), kInvalidRequest, "a message is an object");
    return true;
  }
  const Json& method = At(message, "method");
  const Json& id = At(message, "id");
  const bool is_request = message.contains("id");
  // As the protocol has it; others may nest so deep that they can be neither printed nor copied.
  if (id.is_structured() || id.is_boolean()) {
    ReplyError(Json(), kInvalidRequest, "an id is a number or a text");
    return true;
  }
  if (!method.is_string()) {
    // An answer to a request of ours, or nothing at all.
    if (!message.contains("result") && !message.contains("error"))
      ReplyError(id, kInvalidRequest, "there is no method");
    return true;
  }
  const std::string name = method.get<std::string>();
  if (name == "exit") return false;
  try {
    if (is_request) {
      HandleRequest(id, name, At(message, "params"));
    } else {
      HandleNotification(name, At(message, "params"));
    }
  } catch (const Json::exception& fault) {
    if (is_request) ReplyError(id, kInvalidParams, fault.what());
  }
  return true;
}

void LanguageServer::HandleRequest(const Json& id, const std::string& method, const Json& params) {
  {
    const std::lock_guard<std::mutex> lock(incoming_lock_);
    if (cancelled_.erase(id.dump()) > 0)
      return ReplyError(id, kRequestCancelled, "the request was cancelled");
  }
  if (method == "initialize") return Reply(id, Initialize(params));
  if (!initialized_) return ReplyError(id, kServerNotInitialized, "initialize comes first");
  if (shut_down_) return ReplyError(id, kInvalidRequest, "the server has been shut down");
  if (method == "shutdown") {
    shut_down_ = true;
    return Reply(id, Json());
  }
  if (method == "workspace/executeCommand") return Execute(id, params);
  const auto handler = Handlers().find(method);
  if (handler == Handlers().end())
    return ReplyError(id, kMethodNotFound, absl::StrCat("there is no method ", method));
  const std::lock_guard<std::mutex> lock(documents_lock_);
  Document* const document = DocumentOf(params);
  if (document == nullptr) return ReplyError(id, kInvalidParams, "the document is not open");
  absl::StatusOr<Json> answer = handler->second.answer(*document, params);
  if (!answer.ok()) return ReplyError(id, kRequestFailed, std::string(answer.status().message()));
  Reply(id, *std::move(answer));
}

void LanguageServer::HandleNotification(const std::string& method, const Json& params) {
  if (!initialized_) return;
  if (method == "textDocument/didOpen") Open(params);
  if (method == "textDocument/didChange") Change(params);
  if (method == "textDocument/didClose") Close(params);
}

Json LanguageServer::Initialize(const Json& params) {
  initialized_ = true;
  const Json& shows = At(At(At(At(params, "capabilities"), "window"), "showDocument"), "support");
  shows_documents_ = shows.is_boolean() && shows.get<bool>();
  const Json incremental = {{"openClose", true}, {"change", 2}};
  return {
      {"serverInfo", {{"name", "hlo-lsp"}}},
      {"capabilities",
       {{"positionEncoding", "utf-16"},
        {"textDocumentSync", incremental},
        {"definitionProvider", true},
        {"referencesProvider", true},
        {"documentHighlightProvider", true},
        {"hoverProvider", true},
        {"renameProvider", {{"prepareProvider", true}}},
        {"documentSymbolProvider", true},
        {"foldingRangeProvider", true},
        {"inlayHintProvider", true},
        {"completionProvider", {{"triggerCharacters", {"%", "=", ",", " "}}}},
        {"codeActionProvider", true},
        {"executeCommandProvider", {{"commands", CommandNames()}}},
        {"semanticTokensProvider", {{"legend", TokenLegend()}, {"full", true}, {"range", true}}}}}};
}

void LanguageServer::Open(const Json& params) {
  const Json& given = At(params, "textDocument");
  const std::string uri = TextAt(given, "uri");
  if (uri.empty()) return;
  const std::lock_guard<std::mutex> lock(documents_lock_);
  auto& document = documents_[uri];
  document = std::make_unique<Document>(uri, NumberAt(given, "version", 0), TextAt(given, "text"));
  Schedule(*document);
}

void LanguageServer::Change(const Json& params) {
  const std::lock_guard<std::mutex> lock(documents_lock_);
  Document* const document = DocumentOf(params);
  if (document == nullptr) return;
  const Json& changes = At(params, "contentChanges");
  if (!changes.is_array()) return;
  for (const Json& change : changes) {
    const Json& range = At(change, "range");
    document->Edit(range.is_object() ? std::optional(RangeAt(change)) : std::nullopt,
                   TextAt(change, "text"));
  }
  document->set_version(
      NumberAt(At(params, "textDocument"), "version", NextVersion(document->version())));
  Schedule(*document);
}

void LanguageServer::Close(const Json& params) {
  const std::lock_guard<std::mutex> lock(documents_lock_);
  Document* const document = DocumentOf(params);
  if (document == nullptr) return;
  const std::string uri = document->uri();
  documents_.erase(uri);
  Notify("textDocument/publishDiagnostics", {{"uri", uri}, {"diagnostics", Json::array()}});
}

void LanguageServer::Execute(const Json& id, const Json& params) {
  const std::string command = TextAt(params, "command");
  const Json& given = At(params, "arguments");
  Json arguments = Json::array();  // the texts alone: others are of no use and may nest deep
  for (size_t k = 0; given.is_array() && k < given.size() && given[k].is_string(); ++k)
    arguments.push_back(given[k]);
  std::string text;
  {
    const std::lock_guard<std::mutex> lock(documents_lock_);
    const auto found =
        arguments.empty() ? documents_.end() : documents_.find(arguments[0].get<std::string>());
    if (found == documents_.end())
      return ReplyError(id, kInvalidParams, "the first argument names no open document");
    text = std::string(found->second->buffer().text());
  }
  constexpr int kMaxCommands = 8;
  if (running_commands_ >= kMaxCommands)
    return ReplyError(id, kRequestFailed, "too many commands run already");
  ++running_commands_;
  std::thread([this, id, command, arguments, text = std::move(text)] {
    absl::StatusOr<Json> made = RunEditorCommand(command, arguments, text);
    if (made.ok()) {
      if (shows_documents_)
        stream_.Write(
            {{"jsonrpc", "2.0"},
             {"id", absl::StrCat("hlo-lsp-", next_request_++)},
             {"method", "window/showDocument"},
             {"params",
              {{"uri", absl::StrCat("file://", (*made)["file"].get<std::string>())},
               {"external", absl::EndsWith((*made)["file"].get<std::string>(), ".html")}}}});
      Reply(id, *std::move(made));
    } else {
      ReplyError(id, kRequestFailed, std::string(made.status().message()));
    }
    --running_commands_;
  }).detach();
}

void LanguageServer::Reply(const Json& id, Json result) {
  stream_.Write({{"jsonrpc", "2.0"}, {"id", id}, {"result", std::move(result)}});
}

void LanguageServer::ReplyError(const Json& id, int code, const std::string& message) {
  stream_.Write(
      {{"jsonrpc", "2.0"}, {"id", id}, {"error", {{"code", code}, {"message", message}}}});
}

void LanguageServer::Notify(const std::string& method, Json params) {
  stream_.Write({{"jsonrpc", "2.0"}, {"method", method}, {"params", std::move(params)}});
}

Document* LanguageServer::DocumentOf(const Json& params) {
  const auto found = documents_.find(TextAt(At(params, "textDocument"), "uri"));
  return found == documents_.end() ? nullptr : found->second.get();
}

void LanguageServer::Schedule(Document& document) {
  {
    const std::lock_guard<std::mutex> lock(pending_lock_);
    pending_[document.uri()] = {document.buffer().Snapshot(), document.version()};
  }
  pending_came_.notify_one();
}

void LanguageServer::AnalyseChanges() {
  for (;;) {
    std::string uri;
    Pending change;
    {
      std::unique_lock<std::mutex> lock(pending_lock_);
      pending_came_.wait(lock, [this] { return ending_ || !pending_.empty(); });
      if (ending_) return;
      uri = pending_.begin()->first;
      change = std::move(pending_.begin()->second);
      pending_.erase(pending_.begin());
    }
    std::shared_ptr<const Analysis> analysis =
        Analyze(NameOf(uri), std::move(change.text), change.version);
    const Json diagnostics = DiagnosticsJson(*analysis, uri);
    std::shared_ptr<const Analysis> old;  // freed without the lock
    const std::lock_guard<std::mutex> lock(documents_lock_);
    const auto found = documents_.find(uri);
    if (found == documents_.end()) continue;
    const bool newest = found->second->version() == analysis->version;
    old = found->second->set_analysis(std::move(analysis));
    if (newest) Notify("textDocument/publishDiagnostics", diagnostics);
  }
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
