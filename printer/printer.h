// Modules, computations and instructions as HLO text, byte for byte as XLA's ToString() writes
// them.
#pragma once

#include <string>

#include "ir/frontend_attributes.h"
#include "ir/module.h"
#include "printer/print_options.h"

namespace hlokit {

// The whole module, ending in an empty line. Works on modules that do not verify.
std::string Print(const Module& module, const PrintOptions& options = {});
// One computation, from its name to its closing brace.
std::string Print(const Computation& computation, const PrintOptions& options = {});
// `%add = f32[2]{0} add(%a, %b), metadata={..}`: no indentation, no ROOT.
std::string Print(const Instruction& instruction, const PrintOptions& options = {});

// The order of computations in text: callees first, as XLA's MakeComputationPostOrder gives it.
std::vector<Computation*> PrintingOrder(const Module& module);

// What stands after `name=` in an instruction's text or the module's line; the parser's ParseX
// reads each back. Shapes and literals have their Text() in types/.
std::string Text(const Layout& layout);                          // `{1,0:T(8,128)}`
std::string Text(const Sharding& sharding);                      // `{devices=[2,1]<=[2]}`
std::string Text(const ReplicaGroups& groups);                   // `{{0,1},{2,3}}`, `[2,4]<=[8]`
std::string Text(const IntPairs& pairs);                         // `{{0,1},{1,0}}`
std::string Text(const Window& window);                          // `{size=3x3 pad=1_1x1_1}`
std::string Text(const ConvDims& dims);                          // `b01f_01io->b01f`
std::string Text(const PaddingConfig& padding);                  // `0_1x2_2_1`
std::string Text(const SliceSpec& slice);                        // `{[0:2], [1:9:2]}`
std::string Text(const ShapeIndex& index);                       // `{0,1}`
std::string Text(const std::vector<OutputAlias>& aliases);       // `{{0}: (1, {})}`
std::string Text(const std::vector<InputOutputAlias>& aliases);  // `{{1}: (0, {}, may-alias)}`
std::string Text(const std::vector<BufferDonor>& donors);        // `{(1, {0})}`
std::string Text(const SparsityConfig& sparsity);   // `{lhs={sparsity=2x4 dimension=1 stride=1}}`
std::string Text(const std::vector<bool>& values);  // `{true,false}`
std::string Text(const Domain& domain);             // `{kind="sharding", entry={..}, exit={..}}`
std::string Text(const ResultAccuracy& accuracy);   // `{mode=highest}`
std::string Text(const EntryLayout& layout);        // `(f32[2]{0})->f32[2]{0}`
std::string Text(const FrontendAttributes& attributes);  // `{a="b",c={d}}`
std::string Text(const OpMetadata& metadata);            // `{op_name="a" source_line=3}`

// True if XLA writes `text` without quotes as an attribute's value: one balanced {..} with nothing
// after it.
bool IsDictionary(absl::string_view text);

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
