// Errors as values inside the library; the face turns them into exceptions.
#pragma once

#include <cstdlib>
#include <optional>
#include <string>
#include <utility>
#include <variant>

namespace einkern::core {

/// Which exception of the face an error becomes, and which exit code of the command.
enum class ErrorKind { compile, shape, device, usage, io, internal };

/// What went wrong and what to do about it, in whole sentences.
struct Error {
  ErrorKind kind = ErrorKind::internal;
  std::string message;
};

/// A value or an Error. Asking for the one that is not there aborts: test `ok()` first, or use EINKERN_TRY.
template <typename T>
class [[nodiscard]] Result {
 public:
  Result(T held) : state_(std::move(held)) {}        // NOLINT(google-explicit-constructor)
  Result(Error error) : state_(std::move(error)) {}  // NOLINT(google-explicit-constructor)

  bool ok() const { return state_.index() == 0; }
  explicit operator bool() const { return ok(); }
  T& value() & { return checked(); }
  const T& value() const& { return const_cast<Result*>(this)->checked(); }
  T&& value() && { return std::move(checked()); }
  T& operator*() & { return checked(); }
  const T& operator*() const& { return value(); }
  T* operator->() { return &checked(); }
  const T* operator->() const { return &value(); }
  const Error& error() const {
    if (ok()) std::abort();
    return std::get<1>(state_);
  }

 private:
  T& checked() {
    if (!ok()) std::abort();
    return std::get<0>(state_);
  }
  std::variant<T, Error> state_;
};

/// Success, or an Error.
template <>
class [[nodiscard]] Result<void> {
 public:
  Result() = default;
  Result(Error error) : error_(std::move(error)) {}  // NOLINT(google-explicit-constructor)
  bool ok() const { return !error_; }
  explicit operator bool() const { return ok(); }
  const Error& error() const {
    if (ok()) std::abort();
    return *error_;
  }

 private:
  std::optional<Error> error_;
};

}  // namespace einkern::core

#define EINKERN_CONCATENATE_(a, b) a##b
#define EINKERN_CONCATENATE(a, b) EINKERN_CONCATENATE_(a, b)
/// `EINKERN_TRY(auto x, f());` binds the value of a Result, or returns its error from the enclosing function.
#define EINKERN_TRY(declaration, expression)                                                               \
  auto EINKERN_CONCATENATE(result_, __LINE__) = (expression);                                              \
  if (!EINKERN_CONCATENATE(result_, __LINE__).ok()) return EINKERN_CONCATENATE(result_, __LINE__).error(); \
  declaration = std::move(EINKERN_CONCATENATE(result_, __LINE__)).value()
/// `EINKERN_CHECK_OK(f());` returns the error of a Result<void> (or any Result) from the enclosing function.
#define EINKERN_CHECK_OK(expression)                              \
  if (auto EINKERN_CONCATENATE(status_, __LINE__) = (expression); \
      !EINKERN_CONCATENATE(status_, __LINE__).ok())               \
  return EINKERN_CONCATENATE(status_, __LINE__).error()
