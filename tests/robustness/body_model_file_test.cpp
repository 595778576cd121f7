// SPDX-License-Identifier: Apache-2.0
// Mistakes in models with bodies: each gets a message with its place and what to do.
#include <gtest/gtest.h>

#include "stickslip/io/model_file.hpp"

namespace stickslip::body_model_file_test {
namespace {

struct Mistake {
  std::string text;
  int line;
  std::string says;
};

void expect_mistake(const Mistake& mistake) {
  try {
    parse_model(mistake.text, "m.toml");
    ADD_FAILURE() << "no error for\n" << mistake.text;
  } catch (const InputError& error) {
    const std::string what = error.what();
    EXPECT_EQ(what.rfind("m.toml:" + std::to_string(mistake.line) + ":", 0), 0u) << what << "\nfor\n" << mistake.text;
    EXPECT_NE(what.find(mistake.says), std::string::npos) << what << "\nfor\n" << mistake.text;
  }
}

TEST(BodyModelFile, MistakesNamePlaceAndRemedy) {
  const std::string ball = "[[body]]\nname = \"ball\"\nmass = 1\n";
  const std::string round = "[[shape]]\nbody = \"ball\"\nkind = \"sphere\"\nradius = 0.1\n";
  for (
      const Mistake& mistake : std::vector<Mistake>{
          {"[[body]]\nmass = 1\n", 1, "'name' is missing"},
          {"[[body]]\nname = \"ground\"\nmass = 1\n", 2, "has a meaning of its own"},
          {"[[body]]\nname = \"ball\"\n", 1, "'mass' is missing"},
          {"[[body]]\nname = \"ball\"\nmass = 0\n", 3, "must be > 0"},
          {"[[body]]\nname = \"ball\"\nmass = -2\n", 3, "must be > 0"},
          {ball, 1, "has neither inertia nor a shape"},
          {ball + "inertia = [1, 1]\n", 4, "the list has 2 entries"},
          {ball + "inertia = [1, 1, 3]\n", 4, "each is at most the sum"},
          {ball + "inertia = [1, 1, -1]\n", 4, "all three must be > 0"},
          {ball + "orientation_0 = [0, 0, 0, 0]\n", 4, "the quaternion is zero"},
          {ball + "position_0 = [0, 0]\n", 4, "the list has 2 entries"},
          {ball + "count = 0\n", 4, "must lie in [1, 1000000]"},
          {ball + "flexible = { }\n", 3, "follows from 'flexible'"},
          {"[[body]]\nname = \"rod\"\nflexible = { }\n", 3, "'kind' is missing"},
          {ball + ball, 5, "two bodies are named 'ball'"},
          {ball + "[[shape]]\nbody = \"bal\"\nkind = \"sphere\"\nradius = 1\n", 5, "did you mean 'ball'"},
          {ball + "[[shape]]\nbody = \"ball\"\nkind = \"spere\"\nradius = 1\n", 6, "sphere"},
          {ball + "[[shape]]\nbody = \"ball\"\nkind = \"mesh\"\n", 4, "'vertices' is missing"},
          {ball +
               "[[shape]]\nbody = \"ball\"\nkind = \"mesh\"\nvertices = [[0,0,0],[1,0,0],[0,1,0]]\nfaces = [[0,1,2]]\n",
           4, "several hulls"},
          {ball + "[[shape]]\nbody = \"ground\"\nkind = \"mesh\"\nvertices = [[0,0,0],[1,0,0],[2,0,0]]\nfaces = "
                  "[[0,1,2]]\n",
           8, "has no area"},
          {ball +
               "[[shape]]\nbody = \"ground\"\nkind = \"mesh\"\nvertices = [[0,0,0],[1,0,0],[0,1,0]]\nfaces = [[0,1]]\n",
           8, "three or four"},
          {ball + "[[shape]]\nbody = \"ground\"\nkind = \"mesh\"\nfile = \"no.stl\"\n", 7, "no.stl"},
          {ball + "[[shape]]\nbody = \"ground\"\nkind = \"heightfield\"\nsize = [1, 1]\nheights = [[0, 0], [0]]\n", 8,
           "row 1 has 1 heights"},
          {ball + "[[shape]]\nbody = \"ground\"\nkind = \"heightfield\"\nsize = [1, 1]\nheights = \"x\"\n", 4,
           "'cells' is missing"},
          {ball + "[[shape]]\nbody = \"ground\"\nkind = \"plane\"\nfaces = [[0,1,2]]\n", 7, "has no faces"},
          {ball + "[[shape]]\nbody = \"ball\"\nkind = \"sphere\"\n", 4, "'radius' is missing"},
          {ball + "[[shape]]\nbody = \"ball\"\nkind = \"sphere\"\nradius = -1\n", 7, "must be > 0"},
          {ball + "[[shape]]\nbody = \"ball\"\nkind = \"sphere\"\nradius = 1\nsize = [1, 1, 1]\n", 8, "has no size"},
          {ball + "[[shape]]\nbody = \"ball\"\nkind = \"hull\"\npoints = [[0,0,0],[1,0,0],[0,1,0],[1,1,0]]\n", 4,
           "plane"},
          {ball + round + "[[contact]]\nmu = 0.3\n", 8, "'between' is missing"},
          {ball + round + "[[contact]]\nbetween = [\"ball\"]\n", 9, "a contact is between two"},
          {ball + round + "[[contact]]\nbetween = [\"ball\", \"floor\"]\n", 9, "there is no body 'floor'"},
          {ball + round + "[[contact]]\nbetween = [\"ball\", \"ground\"]\nmu = -0.1\n", 10, "must be >= 0"},
          {ball + round + "[[contact]]\nbetween = [\"ball\", \"ground\"]\nrestitution = 1.5\n", 10, "lie in [0, 1]"},
          {ball + round + "[[contact]]\nbetween = [\"ball\", \"ground\"]\ngap = \"z\"\n", 10,
           "found from their shapes"},
          {ball + round + "[[friction]]\non = \"x\"\nlimit = 1\n", 9, "there is no coordinate 'x'"},
          {ball + round + "[initial]\nposition = [0]\n", 9, "position_0"},
          {ball + round + "[[spring]]\nbody_a = \"ball\"\nbody_b = \"ball\"\n", 8, "same body"},
          {ball + round + "[[spring]]\nbody_a = \"ball\"\nbody_b = \"ground\"\nstiffness = -1\n", 11, "must be >= 0"},
          {ball + round + "[run]\nscheme = \"splitting\"\nstep = 0.1\nend_time = 1\n", 9, "use scheme = \"moreau\""},
          {ball + round + "[matrices]\nmass = [[1]]\n", 8, "two systems in one file"},
          {"[[shape]]\nbody = \"ground\"\nkind = \"plane\"\n", 1, "at least one [[body]]"},
      })
    expect_mistake(mistake);
}

TEST(BodyModelFile, CopiesShareShapesAndContacts) {
  const ModelFile model = parse_model(
      "[[body]]\nname = \"b\"\ncount = 3\nmass = \"1 + i\"\nposition_0 = [\"3*i\", 0, 0]\n"
      "[[shape]]\nbody = \"b\"\nkind = \"sphere\"\nradius = 1\n"
      "[[contact]]\nname = \"all\"\nbetween = [\"b\", \"b\"]\nmu = 0.2\n[[contact]]\nname = \"one\"\nbetween = "
      "[\"b2\", \"b3\"]\n",
      "m.toml");
  ASSERT_EQ(model.system->info().nq(), 21);
  EXPECT_EQ(model.system->info().coordinates[7], "b2.x");
  EXPECT_EQ(model.initial.q[14], 6);
  EXPECT_EQ(model.system->inertia().kinetic_energy(model.initial.q, Vector::Ones(18)) > 0, true);
  SystemWorkspace workspace(*model.system);
  ContactPoints found;
  model.system->laws().contact_source().find(0, model.initial.q, 1.5, workspace, found);
  ASSERT_EQ(found.points.size(), 2u);
  EXPECT_EQ(found.points[0].law, 0);
  EXPECT_EQ(found.points[1].law, 1);  // the law that names both
  EXPECT_NEAR(found.points[0].gap, 1, 1e-15);
}

}  // namespace
}  // namespace stickslip::body_model_file_test
