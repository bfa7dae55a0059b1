#include "runtime/kernel_builder.h"

#include <unistd.h>

#include <algorithm>
#include <system_error>
#include <utility>

namespace einkern::runtime {
namespace {

constexpr const char* cancellation = "The compilation was cancelled before it began.";

core::Error cancelled() { return {core::ErrorKind::internal, cancellation}; }

}  // namespace

bool was_cancelled(const core::Error& error) {
  return error.kind == core::ErrorKind::internal && error.message == cancellation;
}

KernelBuilder::KernelBuilder(KernelCache* cache, int threads)
    : cache_(cache), thread_limit_(static_cast<std::size_t>(std::max(threads, 1))), process_(getpid()) {}

KernelBuilder::~KernelBuilder() {
  cancel_waiting();
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  work_arrived_->notify_all();
  for (std::thread& thread : threads_) thread.join();
}

std::pair<std::shared_ptr<KernelBuilder::Job>, bool> KernelBuilder::join_or_begin(const core::Key& key) {
  std::string bytes = key.bytes();
  const std::lock_guard lock(mutex_);
  leave_parent();
  if (const auto running = jobs_.find(bytes); running != jobs_.end()) return {running->second, false};
  auto job = std::make_shared<Job>();
  job->key = bytes;
  job->future = job->promise.get_future().share();
  if (const auto built = built_.find(bytes); built != built_.end()) {
    if (auto kernel = built->second.lock()) {
      job->promise.set_value(std::move(kernel));
      return {std::move(job), false};
    }
    built_.erase(built);
  }
  jobs_.emplace(std::move(bytes), job);
  return {std::move(job), true};
}

BuiltKernel KernelBuilder::find_or_compile(const core::Key& key, const CompileFunction& compile) {
  if (cache_ != nullptr)
    if (auto kernel = cache_->find(key)) return std::make_shared<const CompiledKernel>(std::move(*kernel));
  EINKERN_TRY(CompiledKernel compiled, compile());
  auto kernel = std::make_shared<const CompiledKernel>(std::move(compiled));
  if (cache_ != nullptr) cache_->store(key, *kernel);
  return kernel;
}

void KernelBuilder::finish(Job& job, BuiltKernel result) {
  {
    const std::lock_guard lock(mutex_);
    if (result.ok()) built_[job.key] = *result;
    jobs_.erase(job.key);
  }
  job.promise.set_value(std::move(result));
}

void KernelBuilder::run(const core::Key& key, Job& job, const CompileFunction& compile) {
  finish(job, find_or_compile(key, compile));
}

BuiltKernel KernelBuilder::build(const core::Key& key, const CompileFunction& compile) {
  const auto [job, ours] = join_or_begin(key);
  if (ours) run(key, *job, compile);
  return job->future.get();
}

std::shared_future<BuiltKernel> KernelBuilder::submit(const core::Key& key, CompileFunction compile) {
  auto [job, ours] = join_or_begin(key);
  if (!ours) return job->future;
  job->compile = std::move(compile);
  std::unique_lock lock(mutex_);
  waiting_.emplace_back(key, job);
  if (has_thread_for_waiting()) {
    lock.unlock();
    work_arrived_->notify_one();
  } else {
    waiting_.pop_back();
    lock.unlock();
    run(key, *job, job->compile);
  }
  return job->future;
}

bool KernelBuilder::has_thread_for_waiting() {
  if (idle_threads_ < waiting_.size() && threads_.size() < thread_limit_) try {
      threads_.emplace_back([this] { work(); });
    } catch (const std::system_error&) {
      // The system gives no more threads; those there are do the work.
    }
  return !threads_.empty();
}

void KernelBuilder::leave_parent() {
  if (process_ == getpid()) return;
  process_ = getpid();
  for (std::thread& thread : threads_) thread.detach();
  threads_.clear();
  idle_threads_ = 0;
  jobs_.clear();
  waiting_.clear();
  static_cast<void>(work_arrived_.release());  // its destructor would wait for the parent's threads
  work_arrived_ = std::make_unique<std::condition_variable>();
}

void KernelBuilder::cancel_waiting() {
  std::deque<std::pair<core::Key, std::shared_ptr<Job>>> dropped;
  {
    const std::lock_guard lock(mutex_);
    leave_parent();
    dropped.swap(waiting_);
  }
  for (auto& [key, job] : dropped) finish(*job, cancelled());
}

void KernelBuilder::work() {
  std::unique_lock lock(mutex_);
  for (;;) {
    ++idle_threads_;
    work_arrived_->wait(lock, [&] { return stopping_ || !waiting_.empty(); });
    --idle_threads_;
    if (waiting_.empty()) return;  // stopping
    auto [key, job] = std::move(waiting_.front());
    waiting_.pop_front();
    lock.unlock();
    run(key, *job, job->compile);
    lock.lock();
  }
}

}  // namespace einkern::runtime
