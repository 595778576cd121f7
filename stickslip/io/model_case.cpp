// SPDX-License-Identifier: Apache-2.0
#include "stickslip/io/model_case.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "stickslip/common/error.hpp"
#include "stickslip/common/nearest_name.hpp"
#include "stickslip/io/model_reader.hpp"
#include "stickslip/io/model_sweep.hpp"
#include "stickslip/io/text_file.hpp"

namespace stickslip {

namespace {

using namespace model_detail;

class ModelSource final : public CaseSource {
 public:
  explicit ModelSource(ModelFile model) : model_(std::move(model)), parameters_(model_.parameters) {}

  Built build(std::span<const NamedNumber> changes) const override {
    if (changes.empty()) return built_of(model_);
    return built_of(with_overrides(model_, settings_of(changes)));
  }

  double number(std::span<const NamedNumber> changes, const std::string& name) const override {
    require_path(name);
    ModelContext context;
    context.path = model_.path;
    context.stored = model_.files;
    context.settings = model_.settings;
    for (std::string& setting : settings_of(changes)) context.settings.push_back(std::move(setting));
    TomlNode root = *model_.document;
    take_in_robots(*root.table(), context);
    apply_settings(*root.table(), context);
    if (const TomlNode* given = find_key(*root.table(), "parameters"))
      read_parameters(Field{&context, given, "parameters"}, context);
    if (const TomlNode* given = find_key(*root.table(), "seed")) read_seed(Field{&context, given, "seed"}, context);
    if (const TomlNode* given = find_key(*root.table(), "tables"))
      read_tables(Field{&context, given, "tables"}, context);
    try {
      return Field{&context, &find_value(*root.table(), name), name}.number();
    } catch (const InputError&) {
      const auto start = start_value(changes, name);
      if (!start) throw;
      return *start;
    }
  }

  static Built built_of(const ModelFile& model) {
    return {{model.system, model.initial, model.run}, Parameters(model.parameters)};
  }

 private:
  /// A word without a dot is a parameter or a mistake.
  void require_path(const std::string& name) const {
    if (name.find('.') != std::string::npos || parameters_.find(name)) return;
    throw InputError(fmt::format("{}: there is no parameter '{}'{}; other numbers have a path, as initial.position.0",
                                 model_.path, name, name_hint(name, parameters_.names())));
  }
  /// initial.position and initial.velocity by number or name, where the file does not say it so.
  std::optional<double> start_value(std::span<const NamedNumber> changes, const std::string& name) const {
    const bool position = name.starts_with("initial.position."), velocity = name.starts_with("initial.velocity.");
    if (!position && !velocity) return std::nullopt;
    const Built built = build(changes);
    const std::vector<std::string>& names =
        position ? built.parts.system->info().coordinates : built.parts.system->info().velocities;
    const Vector& values = position ? built.parts.initial.q : built.parts.initial.v;
    const std::string last = name.substr(name.rfind('.') + 1);
    const auto found = std::find(names.begin(), names.end(), last);
    if (found != names.end()) return values[found - names.begin()];
    const auto number = parse_integer(last);
    if (!number || *number < 0 || *number >= values.size()) return std::nullopt;
    return values[static_cast<Index>(*number)];
  }
  std::vector<std::string> settings_of(std::span<const NamedNumber> changes) const {
    std::vector<std::string> settings;
    for (const NamedNumber& change : changes) {
      require_path(change.first);
      settings.push_back(setting_of(parameters_, change));
    }
    return settings;
  }

  ModelFile model_;
  Parameters parameters_;
};

}  // namespace

std::string setting_of(const Parameters& parameters, const NamedNumber& change) {
  return fmt::format("{}{}={}", parameters.find(change.first) ? "parameters." : "", change.first, change.second);
}

Case make_case(ModelFile model) {
  CaseSource::Built built = ModelSource::built_of(model);
  return Case(std::make_shared<ModelSource>(std::move(model)), std::move(built));
}

Case read_case(const std::string& path, std::span<const std::string> overrides) {
  return make_case(read_model(path, overrides));
}

}  // namespace stickslip
