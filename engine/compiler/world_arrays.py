"""One world a thread: arrays of many worlds, of which each thread sees the elements of its own.

Kernels for lanes compute with lanes of one world, and with arrays that have worlds last. Memory is
tiles of TILE worlds: element k of world w is at [w // TILE, k, w % TILE], so that neighbouring
threads read neighbouring numbers. A kernel that loads such an array from a struct gets it with the
offset of its world added, and indexes it like any other. Indices are not negative.

All arrays of a world are parts of one block of `nitems` numbers. `this_world` is defined by what
links the kernels (gpu.py).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from cardan.engine.compiler.lanes import HAS_LANES

TILE = 32  # worlds: a warp of a GPU
THIS_WORLD = "cardan_this_world"

if TYPE_CHECKING:

    def this_world() -> int:
        """Number of the world of this thread, in a kernel."""
        ...

elif not HAS_LANES:
    this_world = None

else:
    import operator

    from llvmlite import ir
    from numba.core import cgutils, types
    from numba.core.datamodel.models import ArrayModel, DataModel, StructModel
    from numba.core.imputils import lower_builtin
    from numba.extending import intrinsic, register_model

    from cardan.engine.compiler.lanes import LanesType

    WORD = ir.IntType(64)

    class TileType(types.Type):
        """One number of each of TILE worlds."""

        def __init__(self, dtype: Any) -> None:
            """Make the type of tiles of numbers of this type."""
            self.dtype = dtype
            super().__init__(f"Tile({dtype})")

    class WorldArray(types.Array):
        """An array of the world of this thread."""

        def __init__(self, dtype: Any, ndim: int) -> None:
            """Make the type of contiguous arrays of elements of this type."""
            super().__init__(dtype, ndim, "C", name=f"WorldArray({dtype}, {ndim})")

        def copy(self, dtype=None, ndim=None, layout=None, readonly=None):
            """The type of a row of this array."""
            if layout not in (None, "C"):
                raise NotImplementedError("arrays of worlds have no slices")
            return WorldArray(dtype or self.dtype, self.ndim if ndim is None else ndim)

    @register_model(TileType)
    class TileModel(DataModel):
        """Numbers side by side in memory; it is never a value."""

        def get_data_type(self):
            """TILE numbers."""
            return ir.ArrayType(self._dmm.lookup(self._fe_type.dtype).get_data_type(), TILE)

        get_value_type = get_data_type

    @register_model(WorldArray)
    class WorldArrayModel(ArrayModel):
        """Layout of an array whose data are tiles."""

        def __init__(self, manager, fe_type):
            """Members as those of an array."""
            tile = TileType(fe_type.dtype)
            shape = types.UniTuple(types.intp, fe_type.ndim)
            members = [
                ("meminfo", types.MemInfoPointer(fe_type.dtype)),
                ("parent", types.pyobject),
                ("nitems", types.intp),
                ("itemsize", types.intp),
                ("data", types.CPointer(tile)),
                ("shape", shape),
                ("strides", shape),
            ]
            StructModel.__init__(self, manager, fe_type, members)

        def as_data(self, builder, value):
            """Kernels store no arrays: the offset of the world would be added twice."""
            raise NotImplementedError("a kernel cannot store an array of worlds in a struct")

        def load_from_data_pointer(self, builder, ptr, align=None):
            """The array of this world."""
            whole = super().load_from_data_pointer(builder, ptr, align)
            world = builder.call(_index_of_world(builder.module), [])
            tile = builder.udiv(world, WORD(TILE))
            data = builder.gep(
                self.get(builder, whole, "data"),
                [builder.mul(tile, self.get(builder, whole, "nitems"))],
            )
            lane = builder.gep(data, [WORD(0), builder.urem(world, WORD(TILE))])
            moved = builder.bitcast(lane, data.type)
            return self.set(builder, whole, moved, "data")

    def _index_of_world(module):
        function = cgutils.get_or_insert_function(module, ir.FunctionType(WORD, []), THIS_WORLD)
        for attribute in ("nounwind", "willreturn", "memory(none)"):
            set.add(function.attributes, attribute)  # llvmlite's own list lacks memory(none)
        return function

    def _tile(context, builder, signature, args):
        """The array and the address of what is at an index of it."""
        array_type, index_type = signature.args[:2]
        array = context.make_array(array_type)(context, builder, args[0])
        if isinstance(index_type, types.BaseTuple):
            found, of = cgutils.unpack_tuple(builder, args[1]), index_type.types
        else:
            found, of = [args[1]], [index_type]
        indices = [
            context.cast(builder, one, one_type, types.intp)
            for one, one_type in zip(found, of, strict=True)
        ]
        indices += [WORD(0)] * (array_type.ndim - len(indices))
        return array, cgutils.get_item_pointer(context, builder, array_type, array, indices)

    def _element(context, builder, array_type, tile):
        return builder.bitcast(tile, context.get_data_type(array_type.dtype).as_pointer())

    @lower_builtin(operator.getitem, WorldArray, types.Integer)
    @lower_builtin(operator.getitem, WorldArray, types.BaseTuple)
    def _load(context, builder, signature, args):
        array_type, result = signature.args[0], signature.return_type
        array, tile = _tile(context, builder, signature, args)
        if not isinstance(result, WorldArray):
            address = _element(context, builder, array_type, tile)
            return context.unpack_value(builder, result, address)
        row = context.make_array(result)(context, builder)
        for name in ("meminfo", "parent", "nitems", "itemsize"):
            setattr(row, name, getattr(array, name))
        for name in ("shape", "strides"):
            words = cgutils.unpack_tuple(builder, getattr(array, name))[-result.ndim :]
            setattr(row, name, cgutils.pack_array(builder, words))
        row.data = tile
        return row._getvalue()

    @lower_builtin(operator.setitem, WorldArray, types.Any, types.Any)
    def _store(context, builder, signature, args):
        array_type, _, value_type = signature.args
        _, tile = _tile(context, builder, signature, args)
        address = _element(context, builder, array_type, tile)
        value = context.cast(builder, args[2], value_type, array_type.dtype)
        context.pack_value(builder, array_type.dtype, value, address)

    @intrinsic
    def this_world(context):
        """Number of the world of this thread, in a kernel."""

        def codegen(context, builder, signature, args):
            return builder.call(_index_of_world(builder.module), [])

        return types.int64(), codegen

    WORLD = LanesType(1)
