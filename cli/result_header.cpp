// SPDX-License-Identifier: Apache-2.0
#include "cli/result_header.hpp"

#include "stickslip/common/version.hpp"
#include "stickslip/motion/scheme.hpp"

namespace stickslip::cli {

namespace {

/// Size of State::z: one deformation per row that the scheme makes a spring of.
Index internal_states(const ModelFile& model) {
  if (model.run.scheme != SchemeKind::viscoelastic) return 0;
  Index rows = static_cast<Index>(model.system->laws().constraints().size());
  for (const FrictionElement& element : model.system->laws().friction()) rows += element.size();
  return rows;
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
                      internal_states(model),
                      model.run.expected_rows(),
                      {},
                      {model.text, model.settings, model.parameters, utc_date(), model.files, {}}};
  if (model.bodies)
    for (const RigidBody& body : model.bodies->bodies) header.bodies.push_back(body.name);
  return header;
}

}  // namespace stickslip::cli
