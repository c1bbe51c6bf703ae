// Every operation of the semantics pages built through the builder: the module verifies, its text
// reads back, and both platforms compute the same.
#include <cstdlib>
#include <set>

#include "absl/strings/str_split.h"
#include "client/op_cases_internal.h"
#include "gtest/gtest.h"
#include "parser/parser.h"
#include "printer/whole_text.h"
#include "support/file.h"
#include "types/compare.h"
#include "types/random_literal.h"
#include "verifier/verifier.h"

namespace hlokit {
namespace {

std::vector<OpCase> AllCases() {
  std::vector<OpCase> all;
  for (const auto& cases : {ElementCases(), ArrayCases(), ComputationCases(), DeviceCases()})
    all.insert(all.end(), cases.begin(), cases.end());
  return all;
}

Literal RandomValue(const Shape& shape, uint64_t stream) {
  if (!shape.IsTuple()) {
    Literal literal = Literal::Unset(shape);
    FillRandom(literal, stream, {.float_low = 0.25, .float_high = 0.75, .int_high = 1});
    return literal;
  }
  std::vector<Literal> elements;
  for (const Shape& element : shape.elements) elements.push_back(RandomValue(element, ++stream));
  return Literal::Tuple(std::move(elements));
}

absl::StatusOr<Literal> RunOn(absl::string_view platform, const XlaComputation& computation) {
  Client* client = ClientLibrary::ClientLibraryOrDie(platform);
  std::vector<std::unique_ptr<GlobalData>> data;
  std::vector<const GlobalData*> arguments;
  const std::vector<Shape> parameters = computation.GetProgramShape().value().parameters;
  for (size_t p = 0; p < parameters.size(); ++p) {
    data.push_back(std::make_unique<GlobalData>(RandomValue(parameters[p], 100 * p), 0));
    arguments.push_back(data.back().get());
  }
  return client->ExecuteAndTransfer(computation, arguments);
}

void CheckText(const XlaComputation& computation, const std::string& stem) {
  Diagnostics diagnostics;
  ASSERT_TRUE(Verify(computation.module(), diagnostics).ok())
      << diagnostics.Render(SourceFile("", ""));
  const std::string text = WholeText(computation.module());
  const auto back = ParseModule(text);
  ASSERT_TRUE(back.ok()) << back.status() << "\n" << text;
  EXPECT_EQ(WholeText(**back), text);
  const char* folder = std::getenv("HLOKIT_BUILDER_DUMP");
  if (folder == nullptr) return;
  ASSERT_TRUE(AtomicWriteFile(absl::StrCat(folder, "/", stem, ".hlo"), text).ok());
}

TEST(OperationsTest, EachIsBuiltAndRuns) {
  int number = 0;
  for (const OpCase& c : AllCases()) {
    SCOPED_TRACE(c.row);
    XlaBuilder b("built");
    c.build(b);
    const absl::StatusOr<XlaComputation> built = b.Build();
    ASSERT_TRUE(built.ok()) << built.status();
    CheckText(*built, absl::StrCat("case", number++));
    if (c.runs == RunsOn::kTextOnly) continue;
    const absl::StatusOr<Literal> expected = RunOn("interpreter", *built);
    ASSERT_TRUE(expected.ok()) << expected.status();
    if (c.runs == RunsOn::kInterpreter) continue;
    const absl::StatusOr<Literal> found = RunOn("cpu", *built);
    ASSERT_TRUE(found.ok()) << found.status();
    const CompareResult result = Compare(*expected, *found, {.abs_error = 1e-5, .rel_error = 1e-5});
    EXPECT_TRUE(result.equal) << result.Report();
  }
}

// The rows of the catalogue, where it lies beside the checkout.
TEST(OperationsTest, EveryRowOfTheCatalogueHasACase) {
  const auto text = ReadFile(std::string(HLOKIT_SOURCE_DIR) + "/../shared/ops.tsv");
  const auto elsewhere = ReadFile(std::string(HLOKIT_SOURCE_DIR) + "/../../shared/ops.tsv");
  if (!text.ok() && !elsewhere.ok()) GTEST_SKIP() << "shared/ops.tsv is not here";
  std::set<std::string> built;
  for (const OpCase& c : AllCases()) built.insert(c.row);
  bool header = true;
  for (absl::string_view line :
       absl::StrSplit(text.ok() ? *text : *elsewhere, '\n', absl::SkipEmpty())) {
    const std::string row(line.substr(0, line.find('\t')));
    EXPECT_TRUE(header || built.contains(row)) << row;
    header = false;
  }
}

}  // namespace
}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
