// SPDX-License-Identifier: Apache-2.0
#include "stickslip/io/result_header.hpp"

#include "stickslip/common/version.hpp"
#include "stickslip/motion/scheme.hpp"

namespace stickslip {

namespace {

std::vector<std::string> internal_names(const ModelFile& model) {
  const auto names = describe(model.run.scheme).internal;
  return names ? names(*model.system) : std::vector<std::string>{};
}

}  // namespace

ReportUnits report_units(const ModelFile& model) {
  ReportUnits units{model.angles, {}};
  for (const FrictionElement& law : model.system->laws().friction())
    if (acts_on_angles(model, law)) units.moments.push_back(law.name);
  return units;
}

ResultHeader result_header(const ModelFile& model, const std::string& named) {
  ResultHeader header{model.title,
                      named,
                      std::string(to_string(model.run.scheme)),
                      std::string(version()),
                      internal_names(model),
                      model.run.expected_rows(),
                      {},
                      {model.text, model.settings, model.parameters, utc_date(), model.files, {}}};
  if (model.bodies)
    for (const RigidBody& body : model.bodies->bodies) header.bodies.push_back(body.name);
  return header;
}

}  // namespace stickslip
