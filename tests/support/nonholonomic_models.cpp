// SPDX-License-Identifier: Apache-2.0
#include "tests/support/nonholonomic_models.hpp"

#include "stickslip/model/matrix_model.hpp"

namespace stickslip {

namespace {

/// Writes a model in expressions of its coordinates and parameters.
class Writer {
 public:
  Writer(std::string title, std::vector<std::string> coordinates,
         const std::vector<std::pair<std::string, double>>& parameters)
      : symbols_(state_symbols(coordinates, parameters)) {
    model_.title = std::move(title);
    model_.coordinates = std::move(coordinates);
  }
  Writer& kinetic_energy(const std::string& text) {
    model_.kinetic_energy = function(text);
    return *this;
  }
  Writer& potential(const std::string& text) {
    model_.potential = function(text);
    return *this;
  }
  Writer& row(const std::string& name, const std::vector<std::string>& entries, const std::string& rate = "0") {
    ExpressionConstraint constraint;
    constraint.element.name = name;
    constraint.element.holonomic = false;
    for (const std::string& entry : entries) constraint.row.push_back(function(entry));
    constraint.rate = function(rate);
    model_.constraints.push_back(std::move(constraint));
    return *this;
  }
  Writer& position(const std::string& name, const std::string& text) {
    ExpressionConstraint constraint;
    constraint.element.name = name;
    constraint.position = function(text);
    model_.constraints.push_back(std::move(constraint));
    return *this;
  }
  EquationModel take() { return std::move(model_); }

 private:
  StateFunction function(const std::string& text) const { return StateFunction(Expression::parse(text, symbols_)); }

  SymbolTable symbols_;
  EquationModel model_;
};

const std::vector<std::string> kBlade{"-sin(phi)", "cos(phi)", "0"};
const std::string kCar =
    "0.5*m*((v_x - b*v_psi*sin(psi))^2 + (v_y + b*v_psi*cos(psi))^2) + 0.5*J*v_psi^2 + 0.5*Js*(v_psi + v_delta)^2";

std::vector<std::pair<std::string, double>> car_parameters(const VehicleParameters& p) {
  return {{"m", p.m}, {"J", p.J}, {"Js", p.Js}, {"b", p.b}, {"L", p.L}};
}

}  // namespace

EquationModel skate(const SkateParameters& p) {
  return Writer("Skate", {"u1", "u2", "phi"}, {{"m", p.m}, {"J", p.J}, {"g", p.g}, {"slope", p.slope}})
      .kinetic_energy("0.5*m*(v_u1^2 + v_u2^2) + 0.5*J*v_phi^2")
      .potential("-m*g*sin(slope)*u1")
      .row("blade", kBlade)
      .take();
}

EquationModel sleigh(const SleighParameters& p) {
  return Writer("Chaplygin sleigh", {"x", "y", "phi"}, {{"m", p.m}, {"J", p.J}, {"a", p.a}})
      .kinetic_energy("0.5*m*((v_x - a*v_phi*sin(phi))^2 + (v_y + a*v_phi*cos(phi))^2) + 0.5*J*v_phi^2")
      .row("blade", kBlade)
      .take();
}

EquationModel rolling_disc(const DiscParameters& p) {
  return Writer("Rolling disc", {"X", "Y", "psi", "theta", "phi"},
                {{"m", p.m}, {"r", p.r}, {"I1", p.I1}, {"I3", p.I3}, {"g", p.g}})
      .kinetic_energy(
          "0.5*m*(v_X^2 + v_Y^2 + (r*sin(theta)*v_theta)^2) + 0.5*I1*(v_theta^2 + v_psi^2*cos(theta)^2) + "
          "0.5*I3*(v_phi + v_psi*sin(theta))^2")
      .potential("m*g*r*cos(theta)")
      .row("along", {"cos(psi)", "sin(psi)", "-r*sin(theta)", "0", "-r"})
      .row("across", {"-sin(psi)", "cos(psi)", "0", "r*cos(theta)", "0"})
      .take();
}

EquationModel rolling_sphere(const SphereParameters& p) {
  return Writer("Rolling sphere", {"x", "y", "psi", "theta", "phi"},
                {{"m", p.m}, {"a", p.a}, {"I", p.I}, {"Omega", p.table_rate}})
      .kinetic_energy("0.5*m*(v_x^2 + v_y^2) + 0.5*I*(v_psi^2 + v_theta^2 + v_phi^2 + 2*v_psi*v_phi*cos(theta))")
      .row("along_x", {"1", "0", "0", "-a*sin(psi)", "a*cos(psi)*sin(theta)"}, "-Omega*y")
      .row("along_y", {"0", "1", "0", "a*cos(psi)", "a*sin(psi)*sin(theta)"}, "Omega*x")
      .take();
}

EquationModel steered_wheel(const VehicleParameters& p, const std::string& steering) {
  Writer writer("Wheel with steering", {"x", "y", "psi", "delta"}, car_parameters(p));
  writer.kinetic_energy(kCar)
      .row("rear", {"-sin(psi)", "cos(psi)", "0", "0"})
      .row("front", {"-sin(psi + delta)", "cos(psi + delta)", "L*cos(delta)", "0"});
  if (!steering.empty()) writer.position("steering", "delta - (" + steering + ")");
  return writer.take();
}

EquationModel trailer(const VehicleParameters& car, const TrailerParameters& p, const std::string& steering) {
  auto parameters = car_parameters(car);
  parameters.insert(parameters.end(), {{"mt", p.m}, {"Jt", p.J}, {"l", p.l}});
  Writer writer("Car and trailer", {"x", "y", "psi", "theta", "delta"}, parameters);
  writer
      .kinetic_energy(kCar +
                      " + 0.5*mt*((v_x + l*v_theta*sin(theta))^2 + (v_y - l*v_theta*cos(theta))^2) + 0.5*Jt*v_theta^2")
      .row("rear", {"-sin(psi)", "cos(psi)", "0", "0", "0"})
      .row("front", {"-sin(psi + delta)", "cos(psi + delta)", "L*cos(delta)", "0", "0"})
      .row("trailer", {"-sin(theta)", "cos(theta)", "0", "-l", "0"});
  if (!steering.empty()) writer.position("steering", "delta - (" + steering + ")");
  return writer.take();
}

}  // namespace stickslip
