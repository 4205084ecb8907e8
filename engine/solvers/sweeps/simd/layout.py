"""Where the numbers of sixteen pairs of contacts stand, side by side: see packing.py.

Group g is data[begin[g] : begin[g + 1]]: what its pairs have in common, from layer[g] on a layer
for each of their points. Field f of lane l stands at f W + l from there:

    AXES      n, t1                linear part of J_b; that of J_a is its negative; t2 = n x t1
    MASSES    1/m_a, 1/m_b
    APART     r_b - r_a            r: arms of the contact from the centres of mass
    MU
    INERTIA   I_a^-1, then I_b^-1  xx yy zz xy xz yz; xx alone where all bodies are round

    ARM       r_a
    STEPS     1/D_n, and 1 over the larger eigenvalue of the tangents' block
    COUPLING  A[t1, n], A[t2, n]
    BIAS, LAM of the three rows;   CFM  of the normal
    SCALES    D_n, larger diagonal of the tangents: impulses times these are velocities

Lanes beyond width[g], HALF where that is enough, hold anything. Sixteen, because what is done to
the second eight need not wait for the first.

Few numbers: a sweep over many contacts waits for memory, and a contact of balls is 30 of them, one
of four of a pair of boxes 22, where its rows and their products with inverse masses would be 61.
"""

W, HALF, POINTS = 16, 8, 4
AXES, MASSES, APART, MU, INERTIA = 0, 6, 8, 11, 12
ARM, STEPS, COUPLING, BIAS, LAM, CFM, SCALES, N_FIELDS = 0, 3, 5, 7, 10, 13, 14, 16
ROUND_SHARED, SHARED, LAYER = W * (INERTIA + 2), W * (INERTIA + 12), W * N_FIELDS

# bits of an int64 that are colours; keys of a colour: for each number of points, round ones last
COLOURS, KINDS = 62, 2 * POINTS
