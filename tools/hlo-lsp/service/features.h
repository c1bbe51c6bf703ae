// Answers to requests about one document, as the protocol has them.
#pragma once

#include "tools/hlo-lsp/service/document.h"
#include "tools/hlo-lsp/service/rpc.h"

namespace hlokit {

Json ToJson(const TextPosition& position);
TextPosition PositionOf(const Json& position);  // 0:0 where it is none
Json RangeOf(const TextBuffer& buffer, TextSpan span);

// For textDocument/publishDiagnostics.
Json DiagnosticsJson(const Analysis& analysis, const std::string& uri);

Json Definition(Document& document, TextPosition at);
Json References(Document& document, TextPosition at, bool with_definition);
Json Highlights(Document& document, TextPosition at);
// Shape, layout, bytes, flops, live range, sharding, source line of an instruction; size and
// callers of a computation; what an opcode is.
Json Hover(Document& document, TextPosition at);
// The span that would be renamed; null where nothing can be.
Json PrepareRename(Document& document, TextPosition at);
// InvalidArgument where there is no name, or the new one is no name or taken.
absl::StatusOr<Json> Rename(Document& document, TextPosition at, const std::string& name);
Json Symbols(Document& document);
Json Folds(Document& document);
// Shapes behind operands, in a range of lines.
Json InlayHints(Document& document, TextRange range);
Json Completions(Document& document, TextPosition at);

// Names of the token types that SemanticTokens counts.
Json TokenLegend();
// Of the lines [first, last]; at most kMaxTokenLines of them.
inline constexpr int64_t kMaxTokenLines = 40000;
Json SemanticTokens(Document& document, int64_t first, int64_t last);

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
