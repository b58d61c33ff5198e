// Work on a thread of its own, answered by a promise. Not on libuv's pool, which has four threads
// for everything: a measurement may take minutes.
#pragma once

#include <napi.h>

#include <chrono>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <new>
#include <optional>
#include <string>
#include <system_error>
#include <thread>
#include <utility>

#include "convert.h"

namespace blockscope {

// Runs work() on a new thread; back on the JavaScript thread resolves with convert(env, result), or
// rejects with an error that carries a code. `onProgress` may be undefined; it is called at most 20
// times a second.
template <typename Result>
class Task {
 public:
  using Work = std::function<Result(const Progress&)>;
  using Convert = std::function<Napi::Value(Napi::Env, Result&)>;

  static Napi::Promise start(Napi::Env env, const Napi::Value& onProgress, Work work,
                             Convert convert) {
    if (!onProgress.IsUndefined() && !onProgress.IsFunction())
      throw Napi::TypeError::New(env, "onProgress must be a function.");
    auto* task = new Task(env, onProgress, std::move(work), std::move(convert));
    const Napi::Promise promise = task->deferred_.Promise();
    try {
      std::thread([task] { task->run(); }).detach();
    } catch (const std::system_error& error) {
      task->failure_ = {ErrorKind::kDevice,
                        std::string("No thread could be started: ") + error.what() + "."};
      auto loop = task->loop_;
      task->finish(env);
      loop.Release();
    }
    return promise;
  }

 private:
  using Clock = std::chrono::steady_clock;

  Task(Napi::Env env, const Napi::Value& onProgress, Work work, Convert convert)
      : deferred_(Napi::Promise::Deferred::New(env)),
        work_(std::move(work)),
        convert_(std::move(convert)) {
    if (onProgress.IsFunction()) onProgress_ = Napi::Persistent(onProgress.As<Napi::Function>());
    const auto ignored = Napi::Function::New(env, [](const Napi::CallbackInfo&) {});
    loop_ = Napi::ThreadSafeFunction::New(env, ignored, "blockscope", 0, 1);
  }

  void run() {
    const bool listening = !onProgress_.IsEmpty();
    try {
      result_ = work_([this, listening](double fraction, std::string_view phase) {
        if (listening) report(fraction, std::string(phase));
      });
    } catch (const Error& error) {
      failure_ = {error.kind, error.what()};
    } catch (const std::bad_alloc&) {
      failure_ = {ErrorKind::kDevice,
                  "The host has not enough memory for this. Choose a smaller shape."};
    } catch (const std::exception& error) {
      failure_ = {ErrorKind::kDevice, error.what()};
    } catch (...) {
      failure_ = {ErrorKind::kDevice, "An unknown error happened in the native code."};
    }
    // finish() deletes this task, perhaps before BlockingCall returns.
    auto loop = loop_;
    loop.BlockingCall(this, [](Napi::Env env, Napi::Function, Task* task) { task->finish(env); });
    loop.Release();
  }

  void report(double fraction, std::string phase) {
    std::lock_guard lock(reportMutex_);
    const auto now = Clock::now();
    if (closing_ || now - lastReport_ < std::chrono::milliseconds(50)) return;
    lastReport_ = now;
    using Message = std::pair<double, std::string>;
    auto message = std::make_unique<Message>(fraction, std::move(phase));
    const auto status =
        loop_.BlockingCall(message.get(), [this](Napi::Env env, Napi::Function, Message* said) {
          const std::unique_ptr<Message> owned(said);
          onProgress_.Call(
              {Napi::Number::New(env, owned->first), Napi::String::New(env, owned->second)});
        });
    // The process is ending: nobody listens any more.
    if (status == napi_ok) message.release();
    else closing_ = true;
  }

  void finish(Napi::Env env) {
    const std::unique_ptr<Task> owned(this);
    const Napi::HandleScope scope(env);
    if (failure_) {
      deferred_.Reject(toJs(env, failure_->first, failure_->second).Value());
      return;
    }
    try {
      deferred_.Resolve(convert_(env, *result_));
    } catch (const Napi::Error& error) {  // a result too large for JavaScript
      deferred_.Reject(toJs(env, ErrorKind::kDevice, error.Message()).Value());
    }
  }

  Napi::Promise::Deferred deferred_;
  Work work_;
  Convert convert_;
  Napi::FunctionReference onProgress_;
  Napi::ThreadSafeFunction loop_;
  std::mutex reportMutex_;
  Clock::time_point lastReport_{};
  bool closing_ = false;
  std::optional<Result> result_;
  std::optional<std::pair<ErrorKind, std::string>> failure_;
};

}  // namespace blockscope
