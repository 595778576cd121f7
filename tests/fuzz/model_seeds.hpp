// SPDX-License-Identifier: Apache-2.0
// Small models that together use every section of a model file.
#pragma once

namespace stickslip::fuzz {

inline constexpr const char* kMatricesSeed = R"toml(title = "Über" # €
[parameters]
k = 2.0
c = "k/4"
[tables]
road = { file = "load.csv", column = 2 }
bump = { x = [0, 0.1, 0.2, 1], y = [0, 1, 0, 0], interpolation = "cubic" }
[matrices]
coordinates = ["a", 'b']
mass = [[2, 1], [1, 2]]
damping = { diagonal = 0.1 }
stiffness = [["k", -1], [-1, "k"]]
force = ["if(t < 1, sin(2*pi*t), v_a) + k*road(t)", { table = "load.csv", column = 2 }]
[[friction]]
name = "shoe"
on = "a"
limit = "1 + a^2"
static_limit = 1.2
weakening = { shape = "tanh", beta = 0.3, epsilon = 0.1 }
[[friction]]
direction = [1, -1]
limit = 0.5
surface_velocity = "sin(t) + bump(t)"
[initial]
position = [0, 0.1]
velocity = "c*i"
[run]
scheme = "moreau"
steps = 100
end_time = 4
[run.moreau]
locate_reversals = true
)toml";

inline constexpr const char* kFileSeed = R"toml(title = """two \
   lines
"""
[matrices]
mass = "m.mtx"
damping = { diagonal = "0.1*(i+1)" }
stiffness = { tridiagonal = [-1, 2, -1] }
force = "cos(t + i) + mod(t, 0.3)"
[[friction]]
on = "*"
limit = "1 + i"
[[friction]]
on = ["x1", "x2"]
limit = 1
set = "polygon"
facets = 8
[run]
step = 0.01
end_time = 1_0.5e-1
output_times = [
  0.5, # half
  1,
]
)toml";

inline constexpr const char* kContactSeed = R"toml([parameters]
g = 9.81
[tables]
ground = { x = [0, 1, 2], y = [0, 0.1, 0] }
[matrices]
coordinates = ["x", "y"]
mass = [[1, 0], [0, 1]]
force = [0, "-g"]
[[contact]]
name = "floor"
gap = "y - 0.01*sin(60*t)"
slip = "x"
mu = 0.3
restitution = 0.5
[[friction]]
on = "x"
limit = 0.1
viscous = 0.01
[initial]
position = [0, 0.02]
velocity = [1, -0.5]
[run]
scheme = "event"
tolerance = 1e-6
end_time = 0.2
[run.event]
flow = "automatic"
)toml";

inline constexpr const char* kEquationsSeed = R"toml([equations]
coordinates = ["x", "y", "phi"]
mass = [[1, 0, 0], [0, 1, 0], [0, 0, "0.1 + 0*phi^2"]]
force = ["-0.1*v_x", "-9.81", "0.01*sin(phi)"]
potential = "0.5*x^2"
dissipation = "0.05*v_phi^2"
[[constraint]]
name = "rod"
position = "x^2 + y^2 - 1"
[[constraint]]
row = ["-sin(phi)", "cos(phi)", 0]
rate = "0"
viscoelastic = { stiffness = 1, damping = 1, epsilon = 1e-3 }
[initial]
position = [1, 0, 0]
velocity = [0, 0, 1]
consistent = "project"
[run]
scheme = "event"
tolerance = 1e-4
end_time = 0.1
)toml";

inline constexpr const char* kSoftSeed = R"toml([equations]
coordinates = ["x", "y"]
kinetic_energy = "0.5*(1 + x^2)*v_x^2 + 0.5*v_y^2"
force = ["sin(5*t)", 0]
[[friction]]
on = "y"
limit = 0.2
[[constraint]]
name = "tie"
position = "x - y"
viscoelastic = { stiffness = 1, damping = 2, epsilon = 1e-2, exponent = 0.5, prepared = true }
[run]
scheme = "viscoelastic"
tolerance = 1e-3
end_time = 20
)toml";

inline constexpr const char* kBodiesSeed = R"toml([gravity]
vector = [0, 0, -9.81]
[[body]]
name = "ball"
count = 2
mass = 1.5
position_0 = [0, 0, "0.6 + 1.1*i"]
velocity_0 = [0.1, 0, 0]
spin_0 = [0, 3, 0]
[[body]]
name = "box"
mass = 2
inertia = [0.1, 0.2, 0.25]
center = [0, 0, 0.05]
position_0 = [3, 0, 0.5]
orientation_0 = [1, 0, 0.1, 0]
force = ["sin(t)", 0, 0]
torque = [0, 0, 0.1]
[[shape]]
body = "ball"
kind = "sphere"
radius = 0.5
[[shape]]
body = "box"
kind = "box"
size = [1, 0.8, 0.6]
[[shape]]
body = "box"
kind = "capsule"
radius = 0.1
length = 0.7
position = [0, 0, 0.2]
orientation = [1, 0, 0.5, 0]
[[shape]]
body = "ground"
kind = "plane"
normal = [0, 0.1, 1]
[[shape]]
body = "ground"
kind = "hull"
points = [[5, 0, 0], [6, 0, 0], [5, 1, 0], [5, 0, 1]]
[[shape]]
body = "ground"
kind = "cylinder"
radius = 0.3
length = 2
position = [-3, 0, 0]
[[spring]]
body_a = "box"
point_a = [0.1, 0, 0]
body_b = "ground"
stiffness = 10
damping = 0.1
rest = 0.5
[[contact]]
between = ["ball", "*"]
mu = 0.4
restitution = 0.3
[[contact]]
name = "floor"
between = ["box", "ground"]
mu = 0.5
mu_static = 0.6
cone = "polygon"
facets = 8
surface_velocity = ["0.1*t", 0, 0]
[run]
step = 0.01
end_time = 1
[run.moreau]
start_penetration = 0.2
)toml";

inline constexpr const char* kUrdfSeed = R"xml(<?xml version="1.0"?>
<robot name="arm">
  <link name="base"><visual><geometry><box size="0.1 0.1 0.1"/></geometry></visual></link>
  <link name="upper">
    <inertial><origin xyz="0.25 0 0" rpy="0 0.1 0"/><mass value="1.0"/>
      <inertia ixx="0.01" ixy="0" ixz="0" iyy="0.02" iyz="0" izz="0.02"/></inertial>
    <collision><origin xyz="0.25 0 0"/><geometry><cylinder radius="0.05" length="0.5"/></geometry></collision>
  </link>
  <link name="lower">
    <inertial><mass value="0.8"/><inertia ixx="0.01" ixy="0" ixz="0" iyy="0.02" iyz="0" izz="0.02"/></inertial>
  </link>
  <joint name="shoulder" type="revolute">
    <parent link="base"/><child link="upper"/><axis xyz="0 1 0.5"/>
    <limit lower="-2.5" upper="2.5" effort="20" velocity="3"/><dynamics damping="0.05" friction="0.3"/>
  </joint>
  <joint name="elbow" type="prismatic">
    <parent link="upper"/><child link="lower"/><origin xyz="0.5 0 0" rpy="0 0 1"/><axis xyz="0 -1 0"/>
    <limit lower="-0.5" upper="0.5"/><mimic joint="shoulder" multiplier="0.1" offset="0"/>
  </joint>
</robot>
)xml";

inline constexpr const char* kMjcfSeed = R"xml(<mujoco model="m">
  <compiler angle="degree" eulerseq="xyz"/>
  <option gravity="0 0 -9.81" timestep="0.002"/>
  <default><joint damping="0.1"/><default class="d"><geom density="500"/></default></default>
  <worldbody>
    <geom type="plane" size="1 1 1"/>
    <body name="a" pos="0 0 1" euler="10 0 0">
      <joint name="j" axis="0 1 0" range="-90 90" frictionloss="0.2" stiffness="3"/>
      <geom class="d" type="capsule" fromto="0 0 0 0.3 0 0" size="0.04" friction="0.6"/>
      <body pos="0.3 0 0"><joint name="k" type="slide" axis="1 0 0"/><geom size="0.05" mass="0.3"/></body>
    </body>
    <body pos="0 1 1"><freejoint/><geom type="box" size="0.1 0.1 0.1"/></body>
  </worldbody>
  <actuator><position joint="j" kp="10" forcerange="-5 5"/><velocity joint="k" kv="2"/></actuator>
  <equality><joint joint1="k" joint2="j" polycoef="0 0.1 0 0 0"/></equality>
</mujoco>
)xml";

}  // namespace stickslip::fuzz
