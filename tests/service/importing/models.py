"""A small model for the doors: a motor, a mesh, a plane."""

SWING = """
<mujoco model="swing">
  <option timestep="0.002"/>
  <worldbody>
    <geom type="plane" size="1 1 1"/>
    <body name="arm" pos="0 0 1">
      <joint name="pivot" type="hinge" axis="0 1 0" damping="0.1"/>
      <geom type="capsule" size="0.03" fromto="0 0 0 0.3 0 0"/>
      <geom type="mesh" mesh="bob" pos="0.3 0 0"/>
    </body>
  </worldbody>
  <asset><mesh name="bob" file="bob.obj"/></asset>
  <actuator><position joint="pivot" kp="20"/></actuator>
</mujoco>
"""
BOB = "v 0 0 0\nv .1 0 0\nv 0 .1 0\nv 0 0 .1\nf 1 3 2\nf 1 2 4\nf 2 3 4\nf 1 4 3\n"
