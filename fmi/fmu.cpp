// SPDX-License-Identifier: Apache-2.0
// The functions of FMI 2.0 for co-simulation over a model in the unit's resources (fmi/README.md). Value references:
// kInput + k, kParameter + k, kPosition + k, kVelocity + k, kReaction + k, as cli/fmu.cpp writes them.
//
// An instance belongs to one thread at a time. Whatever is thrown becomes fmi2Error with its message to the logger.
#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "fmi/value_references.hpp"
#include "stickslip/common/error.hpp"
#include "stickslip/io/model_file.hpp"
#include "stickslip/io/text_file.hpp"
#include "stickslip/motion/stepping.hpp"

#define STICKSLIP_FMI extern "C" __attribute__((visibility("default")))

namespace {

using namespace stickslip;
using fmi2ValueReference = unsigned;
using fmi2Real = double;
using fmi2Integer = int;
using fmi2Boolean = int;
using fmi2String = const char*;
enum fmi2Status { fmi2OK, fmi2Warning, fmi2Discard, fmi2Error, fmi2Fatal, fmi2Pending };
using Logger = void (*)(void*, fmi2String, fmi2Status, fmi2String, fmi2String, ...);
struct fmi2CallbackFunctions {
  Logger logger;
  void* (*allocateMemory)(std::size_t, std::size_t);
  void (*freeMemory)(void*);
  void (*stepFinished)(void*, fmi2Status);
  void* componentEnvironment;
};

/// The path of a file: address, without its escapes.
std::string path_of(std::string_view address) {
  for (const std::string_view prefix : {"file://localhost", "file://", "file:"})
    if (address.starts_with(prefix)) {
      address.remove_prefix(prefix.size());
      break;
    }
  std::string path;
  for (std::size_t i = 0; i < address.size(); ++i) {
    if (address[i] == '%' && i + 2 < address.size()) {
      path += static_cast<char>(std::stoi(std::string(address.substr(i + 1, 2)), nullptr, 16));
      i += 2;
    } else {
      path += address[i];
    }
  }
  return path;
}

class Unit {
 public:
  Unit(std::string name, const fmi2CallbackFunctions* functions, const std::string& resources, const std::string& guid)
      : name_(std::move(name)), functions_(functions) {
    constexpr std::size_t kLargest = 1024 * kMebibyte;
    const std::string text = read_text_file(resources + "/model.toml", kLargest);
    const auto more = nlohmann::json::from_cbor(read_text_file(resources + "/model.cbor", kLargest));
    if (more.at("guid") != guid) throw InputError("the guid is not that of this unit; modelDescription.xml has it");
    std::vector<FileText> files;
    for (const auto& file : more.at("files")) {
      const auto& bytes = file.at(1).get_binary();
      files.emplace_back(file.at(0), std::string(bytes.begin(), bytes.end()));
    }
    const auto settings = more.at("settings").get<std::vector<std::string>>();
    original_ = parse_model(text, "model.toml", settings, files);
    reset();
  }

  void reset() {
    run_.reset();
    model_ = with_overrides(original_, {});
    options_ = model_.run;
    changes_.clear();
    held_.clear();
    changed_ = false;
  }

  /// Parameters are part of the model: it is made anew with those that were set.
  void initialize() {
    std::vector<double> inputs;
    for (std::size_t k = 0; k < model_.inputs.size(); ++k) inputs.push_back(held(k));
    std::vector<std::string> settings;
    for (const auto& [key, value] : changes_) settings.push_back(fmt::format("parameters.{}={:.17g}", key, value));
    const double end = options_.end_time, start = options_.start_time;
    model_ = with_overrides(original_, settings);
    options_ = model_.run;
    options_.end_time = end;
    options_.start_time = start;
    for (std::size_t k = 0; k < inputs.size(); ++k) model_.inputs[k].set(inputs[k]);
    SimulationHooks hooks;
    hooks.keep_trajectory = false;
    run_.emplace(*model_.system, model_.initial, options_, hooks, nullptr, !model_.inputs.empty());
  }

  void set_span(double start, std::optional<double> stop) {
    options_.start_time = start;
    if (stop) options_.end_time = *stop;
  }

  void step(double t, double h) {
    constexpr double kSame = 1e-9;
    if (!run_) throw InputError("doStep before exitInitializationMode");
    const double own = run_->grid_step(), at = run_->state().t;
    if (std::abs(t - at) > kSame * (h + std::abs(at)))
      throw InputError(fmt::format("the step begins at t = {:.9g} s, but the unit is at {:.9g} s", t, at));
    const double ratio = own > 0 ? h / own : 1;
    const long count = std::lround(ratio);
    if (count < 1 || std::abs(ratio - static_cast<double>(count)) > kSame * ratio)
      throw InputError(
          fmt::format("a communication step of {:.9g} s is no multiple of the model's step of {:.9g} s; "
                      "choose another one, or export the model with --set run.step=...",
                      h, own));
    if (std::exchange(changed_, false)) run_->inputs_changed();
    for (long k = 0; k < count; ++k) {
      if (run_->done())
        throw InputError(
            fmt::format("the run is over at t = {:.9g} s; give setupExperiment a later stopTime", run_->state().t));
      run_->step();
      if (run_->status() != Status::success)
        throw InputError(fmt::format("{}: {}", to_string(run_->status()), run_->message()));
    }
  }

  double get(fmi2ValueReference reference) {
    const std::size_t k = reference % kBlock;
    const State& s = run_ ? run_->state() : model_.initial;
    switch (reference / kBlock * kBlock) {
      case kInput:
        return held(k);
      case kParameter:
        return model_.parameters.at(k).second;
      case kPosition:
        return at(s.q, k);
      case kVelocity:
        return at(s.v, k);
      case kReaction:
        return run_ ? at(run_->reaction(), k) : 0.0;
      default:
        throw InputError(fmt::format("there is no variable with value reference {}", reference));
    }
  }

  void set(fmi2ValueReference reference, double value) {
    const std::size_t k = reference % kBlock;
    if (!std::isfinite(value)) throw InputError(fmt::format("value reference {}: {} is not finite", reference, value));
    if (reference / kBlock * kBlock == kInput) {
      if (value == held(k)) return;
      model_.inputs.at(k).set(value);
      held_.resize(model_.inputs.size(), std::nan(""));
      held_[k] = value;
      changed_ = true;
    } else if (reference / kBlock * kBlock == kParameter) {
      if (run_) throw InputError("parameters are set before exitInitializationMode");
      changes_.emplace_back(model_.parameters.at(k).first, value);
      model_.parameters.at(k).second = value;
    } else {
      throw InputError(fmt::format("the variable with value reference {} is an output", reference));
    }
  }

  double time() const { return run_ ? run_->state().t : options_.start_time; }

  /// Runs what may throw; a failure is told to whoever made the unit.
  template <class Work>
  fmi2Status guarded(Work&& work) noexcept {
    try {
      work();
      return fmi2OK;
    } catch (const std::exception& error) {
      if (functions_ && functions_->logger)
        functions_->logger(functions_->componentEnvironment, name_.c_str(), fmi2Error, "logStatusError", "%s",
                           error.what());
      return fmi2Error;
    }
  }

 private:
  static double at(const Vector& x, std::size_t k) {
    if (static_cast<Index>(k) >= x.size()) throw InputError(fmt::format("there is no variable {} of its kind", k));
    return x[static_cast<Index>(k)];
  }
  double held(std::size_t k) const {
    const double start = model_.inputs.at(k).start;
    return k < held_.size() && !std::isnan(held_[k]) ? held_[k] : start;
  }

  std::string name_;
  const fmi2CallbackFunctions* functions_;
  ModelFile original_, model_;
  SimulationOptions options_;
  std::vector<std::pair<std::string, double>> changes_;
  std::vector<double> held_;
  bool changed_ = false;
  std::optional<Stepping> run_;
};

Unit& unit(void* component) { return *static_cast<Unit*>(component); }

}  // namespace

STICKSLIP_FMI const char* fmi2GetTypesPlatform() { return "default"; }
STICKSLIP_FMI const char* fmi2GetVersion() { return "2.0"; }

STICKSLIP_FMI void* fmi2Instantiate(fmi2String name, int type, fmi2String guid, fmi2String resources,
                                    const fmi2CallbackFunctions* functions, fmi2Boolean /*visible*/,
                                    fmi2Boolean /*logging*/) {
  constexpr int kCoSimulation = 1;
  try {
    if (type != kCoSimulation) throw InputError("this unit is for co-simulation");
    return new Unit(name ? name : "", functions, path_of(resources ? resources : ""), guid ? guid : "");
  } catch (const std::exception& error) {
    if (functions && functions->logger)
      functions->logger(functions->componentEnvironment, name, fmi2Error, "logStatusError", "%s", error.what());
    return nullptr;
  }
}
STICKSLIP_FMI void fmi2FreeInstance(void* c) { delete static_cast<Unit*>(c); }
STICKSLIP_FMI fmi2Status fmi2SetDebugLogging(void*, fmi2Boolean, std::size_t, const fmi2String*) { return fmi2OK; }
STICKSLIP_FMI fmi2Status fmi2SetupExperiment(void* c, fmi2Boolean, fmi2Real, fmi2Real start, fmi2Boolean defined,
                                             fmi2Real stop) {
  return unit(c).guarded([&] { unit(c).set_span(start, defined ? std::optional(stop) : std::nullopt); });
}
STICKSLIP_FMI fmi2Status fmi2EnterInitializationMode(void*) { return fmi2OK; }
STICKSLIP_FMI fmi2Status fmi2ExitInitializationMode(void* c) {
  return unit(c).guarded([&] { unit(c).initialize(); });
}
STICKSLIP_FMI fmi2Status fmi2Terminate(void*) { return fmi2OK; }
STICKSLIP_FMI fmi2Status fmi2Reset(void* c) {
  return unit(c).guarded([&] { unit(c).reset(); });
}
STICKSLIP_FMI fmi2Status fmi2GetReal(void* c, const fmi2ValueReference* references, std::size_t count,
                                     fmi2Real* values) {
  return unit(c).guarded([&] {
    for (std::size_t k = 0; k < count; ++k) values[k] = unit(c).get(references[k]);
  });
}
STICKSLIP_FMI fmi2Status fmi2SetReal(void* c, const fmi2ValueReference* references, std::size_t count,
                                     const fmi2Real* values) {
  return unit(c).guarded([&] {
    for (std::size_t k = 0; k < count; ++k) unit(c).set(references[k], values[k]);
  });
}
STICKSLIP_FMI fmi2Status fmi2DoStep(void* c, fmi2Real t, fmi2Real h, fmi2Boolean) {
  return unit(c).guarded([&] { unit(c).step(t, h); });
}
STICKSLIP_FMI fmi2Status fmi2GetRealStatus(void* c, int kind, fmi2Real* value) {
  constexpr int kLastSuccessfulTime = 2;
  if (kind != kLastSuccessfulTime) return fmi2Discard;
  *value = unit(c).time();
  return fmi2OK;
}

// What the description says the unit does not have: nothing of none is right, anything else an error.
STICKSLIP_FMI fmi2Status fmi2GetInteger(void*, const unsigned*, std::size_t count, fmi2Integer*) {
  return count == 0 ? fmi2OK : fmi2Error;
}
STICKSLIP_FMI fmi2Status fmi2GetBoolean(void*, const unsigned*, std::size_t count, fmi2Boolean*) {
  return count == 0 ? fmi2OK : fmi2Error;
}
STICKSLIP_FMI fmi2Status fmi2GetString(void*, const unsigned*, std::size_t count, fmi2String*) {
  return count == 0 ? fmi2OK : fmi2Error;
}
STICKSLIP_FMI fmi2Status fmi2SetInteger(void*, const unsigned*, std::size_t count, const fmi2Integer*) {
  return count == 0 ? fmi2OK : fmi2Error;
}
STICKSLIP_FMI fmi2Status fmi2SetBoolean(void*, const unsigned*, std::size_t count, const fmi2Boolean*) {
  return count == 0 ? fmi2OK : fmi2Error;
}
STICKSLIP_FMI fmi2Status fmi2SetString(void*, const unsigned*, std::size_t count, const fmi2String*) {
  return count == 0 ? fmi2OK : fmi2Error;
}
STICKSLIP_FMI fmi2Status fmi2GetFMUstate(void*, void**) { return fmi2Error; }
STICKSLIP_FMI fmi2Status fmi2SetFMUstate(void*, void*) { return fmi2Error; }
STICKSLIP_FMI fmi2Status fmi2FreeFMUstate(void*, void**) { return fmi2Error; }
STICKSLIP_FMI fmi2Status fmi2SerializedFMUstateSize(void*, void*, std::size_t*) { return fmi2Error; }
STICKSLIP_FMI fmi2Status fmi2SerializeFMUstate(void*, void*, char*, std::size_t) { return fmi2Error; }
STICKSLIP_FMI fmi2Status fmi2DeSerializeFMUstate(void*, const char*, std::size_t, void**) { return fmi2Error; }
STICKSLIP_FMI fmi2Status fmi2GetDirectionalDerivative(void*, const unsigned*, std::size_t, const unsigned*, std::size_t,
                                                      const fmi2Real*, fmi2Real*) {
  return fmi2Error;
}
STICKSLIP_FMI fmi2Status fmi2SetRealInputDerivatives(void*, const unsigned*, std::size_t, const fmi2Integer*,
                                                     const fmi2Real*) {
  return fmi2Error;
}
STICKSLIP_FMI fmi2Status fmi2GetRealOutputDerivatives(void*, const unsigned*, std::size_t, const fmi2Integer*,
                                                      fmi2Real*) {
  return fmi2Error;
}
STICKSLIP_FMI fmi2Status fmi2CancelStep(void*) { return fmi2Error; }
STICKSLIP_FMI fmi2Status fmi2GetStatus(void*, int, fmi2Status*) { return fmi2Discard; }
STICKSLIP_FMI fmi2Status fmi2GetIntegerStatus(void*, int, fmi2Integer*) { return fmi2Discard; }
STICKSLIP_FMI fmi2Status fmi2GetBooleanStatus(void*, int, fmi2Boolean*) { return fmi2Discard; }
STICKSLIP_FMI fmi2Status fmi2GetStringStatus(void*, int, fmi2String*) { return fmi2Discard; }
