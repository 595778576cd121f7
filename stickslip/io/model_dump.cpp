// SPDX-License-Identifier: Apache-2.0
#include "stickslip/io/model_dump.hpp"

#include "stickslip/io/model_reader.hpp"

namespace stickslip {

std::vector<double> dump_times(const ModelFile& model) {
  if (!model.document || !model.document->table()) return {};
  TomlNode document = *model.document;
  model_detail::ModelContext context;
  context.path = model.path;
  for (const std::string& setting : model.settings)
    if (setting.starts_with("run.")) context.settings.push_back(setting);
  for (const auto& [name, value] : model.parameters) context.parameters.add_constant(name, value);
  model_detail::apply_settings(*document.table(), context);
  const TomlNode* run = find_key(*document.table(), "run");
  const TomlNode* dump = run && run->table() ? find_key(*run->table(), "dump") : nullptr;
  if (!dump) return {};
  return model_detail::read_times({&context, dump, "run.dump"}, model.run.start_time, model.run.end_time);
}

}  // namespace stickslip
