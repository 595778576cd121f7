// SPDX-License-Identifier: Apache-2.0
// The piles by MuJoCo: mj_step with its default solver (Newton, pyramidal cones, at most 100 iterations to 1e-8). Its
// contacts are springs and dampers with a time constant and a damping ratio (solref), by default 0.02 s and 1; the time
// constant may not be below two steps. There is no law of impact: the damping ratio ζ is chosen so that a mass on such
// a spring leaves with e of its speed, e = exp(-π ζ/√(1 - ζ²)).
//
// usage: mujoco_piles SCENE COUNT MU RESTITUTION STEP TIME_CONSTANT
#include <mujoco/mujoco.h>

#include <cstring>
#include <memory>

#include "scene.hpp"

namespace {

double damping_ratio(double e) {
  if (e <= 0) return 1;
  const double l = std::log(e), pi = std::acos(-1.0);
  return -l / std::sqrt(pi * pi + l * l);
}

std::string numbers(const char* name, std::initializer_list<double> values) {
  std::string text = std::string(" ") + name + "=\"";
  char number[32];
  for (const double x : values) {
    std::snprintf(number, sizeof number, "%.17g ", x);
    text += number;
  }
  text.back() = '"';
  return text;
}

std::string numbers(const char* name, const pile::Triple& x, double factor = 1) {
  return numbers(name, {factor * x[0], factor * x[1], factor * x[2]});
}

std::string numbers(const char* name, const pile::Quadruple& x) { return numbers(name, {x[0], x[1], x[2], x[3]}); }

std::string model_of(const pile::Scene& scene, double step, double time_constant) {
  const std::size_t contacts = 20 * scene.bodies.size() + 100;
  std::string xml =
      "<mujoco><size nconmax=\"" + std::to_string(contacts) + "\" njmax=\"" + std::to_string(4 * contacts) +
      "\"/><option" + numbers("timestep", {step}) + numbers("gravity", {0, 0, -pile::kGravity}) + "/><default><geom" +
      numbers("solref", {time_constant, damping_ratio(scene.restitution)}) + numbers("friction", {scene.mu, 0, 0}) +
      (scene.mu > 0 ? " condim=\"3\"" : " condim=\"1\"") + "/></default><worldbody>";
  for (const pile::Plane& plane : scene.planes)
    xml +=
        "<geom type=\"plane\" size=\"0 0 1\"" + numbers("pos", plane.position) + numbers("zaxis", plane.normal) + "/>";
  for (const pile::Plate& plate : scene.plates)
    xml += "<geom type=\"box\"" + numbers("size", plate.size, 0.5) + numbers("pos", plate.position) +
           numbers("quat", plate.orientation) + "/>";
  for (const pile::Body& body : scene.bodies) {
    xml += "<body" + numbers("pos", body.position) + numbers("quat", body.orientation) + "><freejoint/><geom" +
           numbers("mass", {body.mass});
    if (body.kind == pile::Kind::sphere) xml += " type=\"sphere\"" + numbers("size", {body.size[0]});
    if (body.kind == pile::Kind::capsule)
      xml += " type=\"capsule\"" + numbers("size", {body.size[0], body.size[1] / 2});
    if (body.kind == pile::Kind::box) xml += " type=\"box\"" + numbers("size", body.size, 0.5);
    xml += "/></body>";
  }
  return xml + "</worldbody></mujoco>";
}

double deepest(const pile::Scene& scene, const mjData* data) {
  if (scene.only_spheres()) return pile::deepest(scene, data->qpos);
  double depth = 0;
  for (int k = 0; k < data->ncon; ++k) depth = std::max(depth, -data->contact[k].dist);
  return depth;
}

}  // namespace

int main(int argc, char** argv) {
  const pile::Scene scene = pile::parse(argc, argv);
  pile::Outcome outcome;
  outcome.program = "mujoco";
  outcome.step = argc > 5 ? std::atof(argv[5]) : scene.step;
  const std::string xml = model_of(scene, outcome.step, argc > 6 ? std::atof(argv[6]) : 0.02);
  auto files = std::make_unique<mjVFS>();
  mj_defaultVFS(files.get());
  mj_makeEmptyFileVFS(files.get(), "pile.xml", static_cast<int>(xml.size()) + 1);
  std::memcpy(files->filedata[mj_findFileVFS(files.get(), "pile.xml")], xml.c_str(), xml.size() + 1);
  char error[1000] = "";
  mjModel* const model = mj_loadXML("pile.xml", files.get(), error, sizeof error);
  if (!model) {
    std::fprintf(stderr, "%s\n", error);
    return 1;
  }
  mjData* const data = mj_makeData(model);
  const long steps = std::lround(scene.end / outcome.step);
  for (long k = 0; k < steps; ++k) {
    const double begin = pile::cpu_seconds();
    mj_step(model, data);
    outcome.seconds += pile::cpu_seconds() - begin;
    outcome.depth = std::max(outcome.depth, deepest(scene, data));
  }
  mj_forward(model, data);
  outcome.depth_at_end = deepest(scene, data);
  outcome.contacts = data->ncon;
  for (int k = 0; k < mjNWARNING; ++k)
    if (data->warning[k].number > 0)
      outcome.status = mju_warningText(k, static_cast<size_t>(data->warning[k].lastinfo));
  for (std::size_t i = 0; i < scene.bodies.size(); ++i)
    outcome.fastest_at_end = std::max(outcome.fastest_at_end, mju_norm3(data->qvel + 6 * i));
  pile::print(scene, outcome);
}
