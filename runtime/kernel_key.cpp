#include "runtime/kernel_key.h"

#include "core/version.h"

namespace einkern::runtime {

core::Key kernel_key(const core::Emission& emission, const Device& device) {
  core::Key key;
  key.add("einkern", core::version)
      .add("source", emission.source)
      .add("launch", emission.launch.to_json())
      .add("compiler", device.compiler_version())
      .add("architecture", device.facts().architecture)
      .add("features", device.facts().features);
  for (const std::string& option : emission.options) key.add("option", option);
  return key;
}

}  // namespace einkern::runtime
