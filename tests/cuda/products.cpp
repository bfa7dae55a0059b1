#include "tests/cuda/products.h"

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <sstream>

#include <fmt/format.h>

namespace einkern::testing {

KernelCase product(const std::string& source, std::vector<std::vector<std::int64_t>> shapes,
                   const std::vector<codegen::TensorPlacement>& placements, const std::string& architecture) {
  return kernel_case(checked_function(source), {.tensors = std::move(shapes), .dims = {}}, architecture, 0,
                     placements);
}

KernelCase square(std::int64_t n, const std::string& source) { return product(source, {{n, n}, {n, n}}); }

codegen::Configuration configuration(const std::string& text) {
  return codegen::Configuration::parse(text).value();
}

void expect_golden_product(const std::string& name, const codegen::Schedule& schedule,
                           const KernelCase& product, const std::string& parameters) {
  const codegen::Configuration chosen = configuration(parameters);
  ASSERT_EQ(schedule.space(product.context()).violation(chosen), std::nullopt);
  const core::Emission emission = schedule.emit(product.context(), chosen).value();
  std::string text = emission.source.substr(
      std::min(emission.source.find("// A warp group's"), emission.source.find("extern \"C\"")));
  const std::string entry = emission.entries.front();
  for (std::size_t at = text.find(entry); at != std::string::npos; at = text.find(entry))
    text.replace(at, entry.size(), "ek_product");
  const std::string path = fmt::format(EINKERN_TEST_DIR "/golden/cuda/{}.cu", name);
  if (std::getenv("EINKERN_UPDATE_GOLDEN") != nullptr) std::ofstream(path, std::ios::binary) << text;
  std::ostringstream expected;
  expected << std::ifstream(path, std::ios::binary).rdbuf();
  EXPECT_EQ(text, expected.str()) << "EINKERN_UPDATE_GOLDEN=1 writes " << path;
}

std::vector<core::EntryResources> clean_resources(const runtime::cuda::Nvrtc& nvrtc,
                                                  const codegen::Schedule& schedule,
                                                  const KernelCase& product,
                                                  const codegen::Configuration& configuration) {
  std::vector<core::EntryResources> all;
  const core::Emission emission = schedule.emit(product.context(), configuration).value();
  const auto compiled = runtime::cuda::compile_cuda(
      nvrtc, {.text = emission.source, .architecture = "sm_90a", .options = emission.options});
  EXPECT_TRUE(compiled.ok()) << compiled.error().message;
  if (!compiled.ok()) return all;
  EXPECT_EQ(compiled->log.find("C75"), std::string::npos) << configuration.text() << compiled->log;
  for (const auto& [entry, resources] : compiled->entries) {
    EXPECT_EQ(resources.spill_store_bytes, 0) << configuration.text();
    EXPECT_EQ(resources.stack_bytes, 0) << configuration.text();
    all.push_back(resources);
  }
  return all;
}

}  // namespace einkern::testing
