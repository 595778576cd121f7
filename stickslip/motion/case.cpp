// SPDX-License-Identifier: Apache-2.0
#include "stickslip/motion/case.hpp"

#include <algorithm>
#include <cassert>

#include "stickslip/motion/sensitivity.hpp"

namespace stickslip {

namespace {

class BuilderSource final : public CaseSource {
 public:
  BuilderSource(Parameters parameters, Case::Build build)
      : parameters_(std::move(parameters)), build_(std::move(build)) {}

  Built build(std::span<const NamedNumber> changes) const override {
    Built built{{}, changed(changes)};
    built.parts = build_(built.parameters);
    assert(built.parts.system);
    return built;
  }
  double number(std::span<const NamedNumber> changes, const std::string& name) const override {
    return changed(changes)[name];
  }

 private:
  Parameters changed(std::span<const NamedNumber> changes) const {
    Parameters parameters = parameters_;
    for (const auto& [name, value] : changes) parameters.set(name, value);
    return parameters;
  }

  Parameters parameters_;
  Case::Build build_;
};

}  // namespace

Case::Case(Parameters parameters, Build build)
    : source_(std::make_shared<BuilderSource>(std::move(parameters), std::move(build))), built_(source_->build({})) {}

Case::Case(std::shared_ptr<const System> system, State initial, SimulationOptions options)
    : Case({}, [parts = CaseParts{std::move(system), std::move(initial), std::move(options)}](const Parameters&) {
        return parts;
      }) {}

Case::Case(std::shared_ptr<const CaseSource> source, CaseSource::Built built)
    : source_(std::move(source)), built_(std::move(built)) {}

void Case::set(const std::string& name, double value) {
  const NamedNumber change{name, value};
  set(std::span(&change, 1));
}

void Case::set(std::span<const NamedNumber> values) {
  std::vector<NamedNumber> changes = changes_;
  for (const NamedNumber& change : values) {
    std::erase_if(changes, [&](const NamedNumber& old) { return old.first == change.first; });
    changes.push_back(change);
  }
  built_ = source_->build(changes);
  changes_ = std::move(changes);
}

double Case::get(const std::string& name) const {
  const double* parameter = built_.parameters.find(name);
  return parameter ? *parameter : source_->number(changes_, name);
}

Simulation Case::run(const SimulationHooks& hooks) const {
  if (options().sensitivities.empty()) return simulate(system(), initial(), options(), hooks);
  options().validate();  // before the neighbours are built: a scheme without derivatives says so at once
  const Variations variations(*this, options().sensitivities);
  return simulate(system(), initial(), options(), hooks, &variations);
}

}  // namespace stickslip
