// A variable of the environment for as long as a test needs it.
#pragma once

#include <cstdlib>
#include <optional>
#include <string>

namespace einkern::testing {

/// Sets a variable; puts back what it was.
class Variable {
 public:
  Variable(const char* name, const char* value) : name_(name) {
    if (const char* before = std::getenv(name)) before_ = before;
    setenv(name, value, 1);
  }
  ~Variable() { before_ ? setenv(name_, before_->c_str(), 1) : unsetenv(name_); }
  Variable(const Variable&) = delete;
  Variable& operator=(const Variable&) = delete;

 private:
  const char* name_;
  std::optional<std::string> before_;
};

}  // namespace einkern::testing
