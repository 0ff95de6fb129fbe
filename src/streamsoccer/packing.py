"""Nested plain values with tensors and arrays as leaves, to bytes and back, to the bit and without pickle.

    8 bytes: length of the header    header: JSON of the values, each leaf replaced by its place    the leaves' bytes

A leaf's type, shape and kind (tensor or array) stand in the header; a tuple comes back as a list, as in JSON.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import numpy as np

from streamsoccer.errors import DataError

__all__ = ["pack", "unpack"]

_LEAF = "$leaf"


def pack(state: Mapping[str, Any]) -> bytes:
    """The values as bytes. What is neither plain nor a leaf is refused by its place."""
    leaves: list[bytes] = []
    described: list[dict[str, Any]] = []
    values = _taken(state, "", leaves, described)
    header = json.dumps({"values": values, "leaves": described}, ensure_ascii=False, separators=(",", ":")).encode()
    return b"".join([len(header).to_bytes(8, "little"), header, *leaves])


def unpack(data: bytes) -> dict[str, Any]:
    """The values that `pack` was given; tensors need torch, arrays do not."""
    length = int.from_bytes(data[:8], "little")
    try:
        header = json.loads(data[8 : 8 + length])
        places, at = [], 8 + length
        for each in header["leaves"]:
            places.append((each, data[at : at + each["bytes"]]))
            at += each["bytes"]
        if at != len(data):
            raise DataError(f"a packed state of {at} bytes has {len(data)}")
        values: dict[str, Any] = _given(header["values"], places)
    except (ValueError, KeyError, TypeError, IndexError) as error:
        raise DataError(f"not a packed state: {error}") from error
    return values


def _taken(value: Any, place: str, leaves: list[bytes], described: list[dict[str, Any]]) -> Any:
    if isinstance(value, Mapping):
        if any(not isinstance(name, str) or name == _LEAF for name in value):
            raise DataError("names in a state must be words", where=place or "state")
        return {name: _taken(each, f"{place}.{name}", leaves, described) for name, each in value.items()}
    if isinstance(value, list | tuple):
        return [_taken(each, f"{place}[{index}]", leaves, described) for index, each in enumerate(value)]
    if value is None or isinstance(value, bool | int | float | str):
        return value
    kind, shape, dtype, data = _bytes(value, place)
    described.append({"kind": kind, "shape": shape, "dtype": dtype, "bytes": len(data)})
    leaves.append(data)
    return {_LEAF: len(leaves) - 1}


def _bytes(value: Any, place: str) -> tuple[str, list[int], str, bytes]:
    if isinstance(value, np.ndarray | np.generic):
        array = np.ascontiguousarray(value)
        if array.dtype.hasobject:
            raise DataError("an array of objects cannot be saved", where=place)
        return "array", list(np.shape(value)), array.dtype.str, array.tobytes()
    if type(value).__module__.split(".")[0] == "torch" and hasattr(value, "detach"):
        import torch

        tensor = value.detach().cpu().contiguous()
        # as bytes: numpy has no bfloat16
        raw = tensor.reshape(-1).view(torch.uint8) if tensor.numel() else torch.zeros(0, dtype=torch.uint8)
        return "tensor", list(tensor.shape), str(tensor.dtype).removeprefix("torch."), raw.numpy().tobytes()
    raise DataError(f"a {type(value).__name__} cannot be saved", where=place or "state")


def _given(value: Any, places: list[tuple[dict[str, Any], bytes]]) -> Any:
    if isinstance(value, list):
        return [_given(each, places) for each in value]
    if not isinstance(value, dict):
        return value
    if _LEAF not in value:
        return {name: _given(each, places) for name, each in value.items()}
    leaf, data = places[value[_LEAF]]
    if leaf["kind"] == "array":
        return np.frombuffer(data, dtype=np.dtype(leaf["dtype"])).reshape(leaf["shape"]).copy()
    import torch

    dtype: torch.dtype = getattr(torch, leaf["dtype"])
    if not data:
        return torch.zeros(leaf["shape"], dtype=dtype)
    return torch.frombuffer(bytearray(data), dtype=torch.uint8).view(dtype).reshape(leaf["shape"])
