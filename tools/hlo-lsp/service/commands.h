// Code actions, and the commands that they name: other tools run on the document as it stands.
#pragma once

#include <string>
#include <vector>

#include "tools/hlo-lsp/service/document.h"
#include "tools/hlo-lsp/service/rpc.h"

namespace hlokit {

// Names of the commands, for the server's capabilities.
std::vector<std::string> CommandNames();

// What can be done at a place.
Json CodeActions(Document& document, TextRange range);

// Runs a command on a text and returns what it made: {"file": path, "message": text}. Takes as long
// as the tool takes; call it from a thread of its own. Errors: InvalidArgument for a command that
// there is not, or that the tool refuses, with its message.
absl::StatusOr<Json> RunEditorCommand(const std::string& command, const Json& arguments,
                                      const std::string& text);

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
