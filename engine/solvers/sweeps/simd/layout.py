"""Memory layout of sixteen contact pairs in lanes (packing.py).

Group g is data[begin[g] : begin[g + 1]]: data shared by the points of a pair, then from layer[g]
one layer for each point. Field f of lane l is at offset f W + l:

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

Lanes beyond width[g] (HALF where that suffices) are undefined. Groups have sixteen lanes because
the operations on the second eight are independent of the first. Few pairs of a heap have four
points: of layer k only used[POINTS g + k] lanes are swept, VECTOR of them by an instruction.

The layout is compact because memory bandwidth bounds a sweep over many contacts: a contact of balls
takes 30 numbers, one of four between two boxes 22; rows and their products with inverse masses
would take 61.
"""

W, HALF, VECTOR, POINTS = 16, 8, 4, 4
AXES, MASSES, APART, MU, INERTIA = 0, 6, 8, 11, 12
ARM, STEPS, COUPLING, BIAS, LAM, CFM, SCALES, N_FIELDS = 0, 3, 5, 7, 10, 13, 14, 16
ROUND_SHARED, SHARED, LAYER = W * (INERTIA + 2), W * (INERTIA + 12), W * N_FIELDS

# bits of an int64 used as colours; keys of a colour: one for each number of points, round last
COLOURS, KINDS = 62, 2 * POINTS
