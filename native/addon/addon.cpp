// The Node-API binding: argument checks, promises, error mapping; no logic.
// src-main/engine/nativeBinding.ts describes it.
#include <napi.h>

#include <memory>
#include <mutex>
#include <vector>

#include "../core/backend.h"
#include "../core/outputs.h"
#include "../core/validate.h"
#include "../hip/backend.h"
#include "agreement.h"
#include "binding.h"
#include "convert.h"
#include "task.h"

#if __has_include("../cuda/backend.cpp")
#define BLOCKSCOPE_HAS_CUDA 1
#endif

namespace blockscope {

namespace {

using Backends = std::vector<std::shared_ptr<Backend>>;

struct AddonData {
  Backends backends;
  Napi::FunctionReference cancelFlag, session;
};

Backends makeBackends(const BackendOptions& options) {
  Backends backends;
  backends.push_back(makeCpuBackend(options));
#if defined(BLOCKSCOPE_HAS_CUDA)
  backends.push_back(makeCudaBackend(options));
  backends.push_back(makeHipBackend(options));
#endif
  return backends;
}

const Backends& backendsOf(Napi::Env env) {
  auto* data = env.GetInstanceData<AddonData>();
  if (data->backends.empty()) data->backends = makeBackends({});
  return data->backends;
}

class CancelFlagObject : public Napi::ObjectWrap<CancelFlagObject> {
 public:
  explicit CancelFlagObject(const Napi::CallbackInfo& info)
      : Napi::ObjectWrap<CancelFlagObject>(info), flag(std::make_shared<CancelFlag>()) {}

  static Napi::Function define(Napi::Env env) {
    return DefineClass(env, "CancelFlag", {InstanceMethod<&CancelFlagObject::cancel>("cancel")});
  }

  const std::shared_ptr<CancelFlag> flag;

 private:
  void cancel(const Napi::CallbackInfo&) { flag->request(); }
};

}  // namespace

std::shared_ptr<CancelFlag> readCancelFlag(const Napi::Value& value) {
  const auto& constructor = value.Env().GetInstanceData<AddonData>()->cancelFlag;
  if (!value.IsObject() || !value.As<Napi::Object>().InstanceOf(constructor.Value()))
    throw Napi::TypeError::New(value.Env(), "cancel must come from createCancelFlag().");
  return CancelFlagObject::Unwrap(value.As<Napi::Object>())->flag;
}

namespace {

// Calls of one session run one after the other, whatever the caller does.
struct SharedSession {
  std::mutex mutex;
  std::unique_ptr<Session> session;
  Problem problem;

  Session& get() {
    if (!session) throw Error(ErrorKind::kUsage, "The session is closed.");
    return *session;
  }
};

// A scale to raise where the kernel runs elsewhere, as chooseScale finds it.
struct RaisedScale {
  std::string side;  // "a", "b"
  bool found = false;
  int64_t row = 0, block = 0;
  int raised = 0;  // its code one exponent higher
  BLOCKSCOPE_FIELDS(side, found, row, block, raised)
};

OperandSide sideOf(const RaisedScale& scale) {
  return scale.side == "a" ? OperandSide::kA : OperandSide::kB;
}

class SessionObject : public Napi::ObjectWrap<SessionObject> {
 public:
  explicit SessionObject(const Napi::CallbackInfo& info) : Napi::ObjectWrap<SessionObject>(info) {}

  static Napi::Function define(Napi::Env env) {
    return DefineClass(env, "Session",
                       {InstanceMethod<&SessionObject::validate>("validate"),
                        InstanceMethod<&SessionObject::judge>("judge"),
                        InstanceMethod<&SessionObject::chooseScales>("chooseScales"),
                        InstanceMethod<&SessionObject::checkRaised>("checkRaised"),
                        InstanceMethod<&SessionObject::measure>("measure"),
                        InstanceMethod<&SessionObject::operands>("operands"),
                        InstanceMethod<&SessionObject::reference>("reference"),
                        InstanceMethod<&SessionObject::close>("close")});
  }

  std::shared_ptr<SharedSession> shared = std::make_shared<SharedSession>();

 private:
  template <typename Result, typename Call>
  Napi::Value start(const Napi::CallbackInfo& info, const Napi::Value& onProgress, Call call) {
    return Task<Result>::start(
        info.Env(), onProgress,
        [held = shared, call](const Progress& progress) {
          const std::lock_guard lock(held->mutex);
          return call(held->get(), progress);
        },
        [](Napi::Env env, Result& result) { return wire::write(env, result); });
  }

  Napi::Value validate(const Napi::CallbackInfo& info) {
    const ValidateRequest request = readValidateRequest(info[0]);
    const auto cancel = readCancelFlag(info[1]);
    return start<ValidationReport>(info, info[2],
                                   [request, cancel](Session& session, const Progress& progress) {
                                     return session.validate(request, *cancel, progress);
                                   });
  }

  Napi::Value judge(const Napi::CallbackInfo& info) {
    const auto output = std::make_shared<std::vector<uint8_t>>(readBytes(info[0], "output"));
    const ValidateRequest request = readValidateRequest(info[1]);
    const auto cancel = readCancelFlag(info[2]);
    return start<ValidationReport>(
        info, info[3], [output, request, cancel](Session& session, const Progress& progress) {
          return session.judge(*output, request, *cancel, progress);
        });
  }

  Napi::Value chooseScales(const Napi::CallbackInfo& info) {
    const ValidateRequest request = readValidateRequest(info[0]);
    const auto cancel = readCancelFlag(info[1]);
    return start<std::vector<RaisedScale>>(
        info, info[2],
        [held = shared, request, cancel](Session& session, const Progress& progress) {
          const auto& expected = session.reference(*cancel, progress);
          std::vector<RaisedScale> scales(2);
          for (size_t i = 0; i < 2; i++) {
            RaisedScale& scale = scales[i];
            scale.side = i == 0 ? "a" : "b";
            const ScaleChoice choice = chooseScale(held->problem, session.operands(), expected,
                                                   sideOf(scale), request.tolerance);
            scale = {scale.side, choice.found, choice.row, choice.block, choice.raised};
          }
          return scales;
        });
  }

  Napi::Value checkRaised(const Napi::CallbackInfo& info) {
    RaisedScale scale;
    wire::read(info[0], "scale", scale);
    const auto before = std::make_shared<std::vector<uint8_t>>(readBytes(info[1], "before"));
    const auto after = std::make_shared<std::vector<uint8_t>>(readBytes(info[2], "after"));
    const ValidateRequest request = readValidateRequest(info[3]);
    const auto cancel = readCancelFlag(info[4]);
    return start<PerturbationCheck>(
        info, info[5],
        [held = shared, scale, before, after, request, cancel](Session& session,
                                                               const Progress& progress) {
          const Problem& problem = held->problem;
          const size_t bytes = problem.elements() * outputBytes(problem.output);
          if (before->size() != bytes || after->size() != bytes)
            throw Error(ErrorKind::kUsage, "A product to compare has another size than C.");
          const ScaleChoice choice = {true, scale.row, scale.block,
                                      static_cast<uint8_t>(scale.raised)};
          return checkPerturbation(problem, session.operands(),
                                   session.reference(*cancel, progress), *before, *after,
                                   sideOf(scale), choice, request);
        });
  }

  Napi::Value measure(const Napi::CallbackInfo& info) {
    const MeasureRequest request = readMeasureRequest(info[0]);
    const auto cancel = readCancelFlag(info[1]);
    return start<Measurement>(info, info[2],
                              [request, cancel](Session& session, const Progress& progress) {
                                return session.measure(request, *cancel, progress);
                              });
  }

  Napi::Value operands(const Napi::CallbackInfo& info) {
    return start<Operands>(info, info.Env().Undefined(),
                           [](Session& session, const Progress&) { return session.operands(); });
  }

  Napi::Value reference(const Napi::CallbackInfo& info) {
    const auto cancel = readCancelFlag(info[0]);
    return start<std::vector<double>>(info, info[1],
                                      [cancel](Session& session, const Progress& progress) {
                                        return session.reference(*cancel, progress);
                                      });
  }

  Napi::Value close(const Napi::CallbackInfo& info) {
    return Task<bool>::start(
        info.Env(), info.Env().Undefined(),
        [held = shared](const Progress&) {
          const std::lock_guard lock(held->mutex);
          held->session.reset();
          return true;
        },
        [](Napi::Env env, bool&) { return env.Undefined(); });
  }
};

void configure(const Napi::CallbackInfo& info) {
  const BackendOptions options = readOptions(info[0]);
  try {
    info.Env().GetInstanceData<AddonData>()->backends = makeBackends(options);
  } catch (const Error& error) {
    throw toJs(info.Env(), error.kind, error.what());
  }
}

struct Detection {
  std::vector<LibraryInfo> libraries;
  std::vector<DeviceInfo> devices;
  BLOCKSCOPE_FIELDS(libraries, devices)
};

Napi::Value detect(const Napi::CallbackInfo& info) {
  return Task<Detection>::start(
      info.Env(), info.Env().Undefined(),
      [backends = backendsOf(info.Env())](const Progress&) {
        Detection found;
        for (const auto& backend : backends) {
          for (auto& library : backend->libraries()) found.libraries.push_back(std::move(library));
          for (auto& device : backend->devices()) found.devices.push_back(std::move(device));
        }
        return found;
      },
      [](Napi::Env env, Detection& found) { return wire::write(env, found); });
}

std::shared_ptr<Backend> backendOf(const Backends& backends, const std::string& device) {
  for (const auto& backend : backends)
    if (device.starts_with(backend->kind())) return backend;
  throw Error(ErrorKind::kUsage, "There is no device " + device + " here.");
}

Napi::Value measureRoofs(const Napi::CallbackInfo& info) {
  const auto cancel = readCancelFlag(info[1]);
  if (!info[0].IsString()) throw Napi::TypeError::New(info.Env(), "device must be a string.");
  const std::string device = info[0].As<Napi::String>();
  using Roofs = std::vector<Roof>;
  return Task<Roofs>::start(
      info.Env(), info[2],
      [device, cancel, backends = backendsOf(info.Env())](const Progress& progress) {
        return backendOf(backends, device)->measureRoofs(device, *cancel, progress);
      },
      [](Napi::Env env, Roofs& roofs) { return wire::write(env, roofs); });
}

Napi::Value compileAhead(const Napi::CallbackInfo& info) {
  if (!info[0].IsString()) throw Napi::TypeError::New(info.Env(), "device must be a string.");
  const std::string device = info[0].As<Napi::String>();
  const auto uses = std::make_shared<std::vector<KernelUse>>(readKernelUses(info[1]));
  const auto cancel = readCancelFlag(info[2]);
  return Task<bool>::start(
      info.Env(), info[3],
      [device, uses, cancel, backends = backendsOf(info.Env())](const Progress& progress) {
        backendOf(backends, device)->compileAhead(device, *uses, *cancel, progress);
        return true;
      },
      [](Napi::Env env, bool&) { return env.Undefined(); });
}

Napi::Value open(const Napi::CallbackInfo& info) {
  const auto request = std::make_shared<OpenRequest>(readOpenRequest(info[0]));
  const auto cancel = readCancelFlag(info[1]);
  using Opened = std::unique_ptr<Session>;
  return Task<Opened>::start(
      info.Env(), info[2],
      [request, cancel, backends = backendsOf(info.Env())](const Progress& progress) {
        return backendOf(backends, request->device)
            ->open(request->device, request->problem, std::move(request->operands), *cancel,
                   progress);
      },
      [request](Napi::Env env, Opened& opened) -> Napi::Value {
        const Napi::Object object = env.GetInstanceData<AddonData>()->session.New({});
        SharedSession& shared = *SessionObject::Unwrap(object)->shared;
        shared.session = std::move(opened);
        shared.problem = request->problem;
        return object;
      });
}

Napi::Value createCancelFlag(const Napi::CallbackInfo& info) {
  return info.Env().GetInstanceData<AddonData>()->cancelFlag.New({});
}

Napi::Object initialize(Napi::Env env, Napi::Object exports) {
  auto* data = new AddonData;
  env.SetInstanceData(data);
  data->cancelFlag = Napi::Persistent(CancelFlagObject::define(env));
  data->session = Napi::Persistent(SessionObject::define(env));
  exports.Set("version", "1");
  exports.Set("configure", Napi::Function::New(env, configure));
  exports.Set("detect", Napi::Function::New(env, detect));
  exports.Set("createCancelFlag", Napi::Function::New(env, createCancelFlag));
  exports.Set("compileAhead", Napi::Function::New(env, compileAhead));
  exports.Set("open", Napi::Function::New(env, open));
  exports.Set("measureRoofs", Napi::Function::New(env, measureRoofs));
  exportQuantizing(env, exports);
  addAgreement(exports);
  return exports;
}

}  // namespace

NODE_API_MODULE(NODE_GYP_MODULE_NAME, initialize)

}  // namespace blockscope
