// What einkern throws. Each message says what is wrong and what to do about it.
#pragma once

#include <stdexcept>
#include <string>
#include <utility>

namespace einkern {

#if defined(_WIN32)
#define EINKERN_API
#else
#define EINKERN_API __attribute__((visibility("default")))
#endif

/// The base of all errors.
class EINKERN_API Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// The program has errors. what() is the text a terminal would show, with lines and carets.
class EINKERN_API CompileError : public Error {
 public:
  CompileError(std::string text, std::string json) : Error(std::move(text)), json_(std::move(json)) {}
  /// The diagnostics as a JSON array: file, line, column, severity, message, notes and fix.
  const std::string& diagnostics_json() const { return json_; }

 private:
  std::string json_;
};

/// Arguments whose shapes, types or memory do not fit the function; with EINKERN_CHECK=1 their values too.
class EINKERN_API ShapeError : public Error {
 public:
  using Error::Error;
};

/// No GPU, no NVRTC, an unsupported architecture, out of memory, a launch that failed.
class EINKERN_API DeviceError : public Error {
 public:
  using Error::Error;
};

/// A call that makes no sense: an unknown name, a missing argument, a wrong type.
class EINKERN_API UsageError : public Error {
 public:
  using Error::Error;
};

/// A file that cannot be read or written.
class EINKERN_API IoError : public Error {
 public:
  using Error::Error;
};

/// A fault of einkern itself.
class EINKERN_API InternalError : public Error {
 public:
  using Error::Error;
};

}  // namespace einkern
