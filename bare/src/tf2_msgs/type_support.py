# Copyright 2026 robodyn developers
#
# Licensed under the Apache License, Version 2.0 (the "License");
# you may not use this file except in compliance with the License.
# You may obtain a copy of the License at
#
#     http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
# See the License for the specific language governing permissions and
# limitations under the License.

"""What rclpy needs to know of tf2_msgs/TFMessage to create publishers and subscriptions of it.

For a message with a wheel this is compiled. Here the records of visualization_msgs/MarkerArray,
another message that is one sequence of messages, are copied, and what differs is replaced: the
names, the type of the elements and the hash by which ROS 2 tells versions of a type apart. The
middleware uses them to announce the type; it is never asked to take a message of ours apart, for
those go in and out as bytes.
"""

from __future__ import annotations

import ctypes
from ctypes import CFUNCTYPE, POINTER, Structure, addressof, c_char_p, c_void_p, cast
from typing import Any, TypeVar

from geometry_msgs.msg import TransformStamped
from visualization_msgs.msg import MarkerArray

FASTRTPS, INTROSPECTION = (
    b"rosidl_typesupport_fastrtps_c",
    b"rosidl_typesupport_introspection_c",
)
# RIHS01 of REP-2016, over the definition of tf2_msgs/msg/TFMessage and of all types in it.
HASH = "e369d0f05a23ae52508854b66f6aa0437f3449d652e8cbf22d5abe85d020f087"

_Find = CFUNCTYPE(c_void_p, c_void_p, c_char_p)
_Hash = CFUNCTYPE(c_void_p, c_void_p)
_Create = CFUNCTYPE(c_void_p)
T = TypeVar("T", bound=Structure)


class _Support(Structure):
    """rosidl_message_type_support_t."""

    _fields_ = [
        (name, c_void_p)
        for name in ("identifier", "data", "find", "hash", "description", "sources")
    ]


class _Callbacks(Structure):
    """message_type_support_callbacks_t of rosidl_typesupport_fastrtps_cpp."""

    _fields_ = [
        (name, c_void_p)
        for name in ("namespace", "name", "write", "read", "size", "largest", "key")
    ]


class _Members(Structure):
    """rosidl_typesupport_introspection_c__MessageMembers."""

    _fields_ = [
        ("namespace", c_void_p),
        ("name", c_void_p),
        ("count", ctypes.c_uint32),
        ("size", ctypes.c_size_t),
        ("has_key", ctypes.c_bool),
        ("members", c_void_p),
        ("init", c_void_p),
        ("fini", c_void_p),
    ]


class _Member(Structure):
    """rosidl_typesupport_introspection_c__MessageMember."""

    _fields_ = [
        ("name", c_void_p),
        ("type", ctypes.c_uint8),
        ("string_bound", ctypes.c_size_t),
        ("members", c_void_p),
        ("is_key", ctypes.c_bool),
        ("is_array", ctypes.c_bool),
        ("array_size", ctypes.c_size_t),
        ("is_bound", ctypes.c_bool),
        ("offset", ctypes.c_uint32),
        ("default", c_void_p),
        ("functions", c_void_p * 6),
    ]


_capsule_pointer = ctypes.pythonapi.PyCapsule_GetPointer
_capsule_pointer.restype, _capsule_pointer.argtypes = c_void_p, [ctypes.py_object, c_char_p]
_new_capsule = ctypes.pythonapi.PyCapsule_New
_new_capsule.restype = ctypes.py_object
_new_capsule.argtypes = [c_void_p, c_char_p, c_void_p]
# The middleware keeps the addresses of these for as long as the process lives.
_kept: list[Any] = []


def _copy(kind: type[T], address: int) -> T:
    made = kind.from_buffer_copy(cast(address, POINTER(kind)).contents)
    _kept.append(made)
    return made


def _text(value: bytes) -> int:
    buffer = ctypes.create_string_buffer(value)
    _kept.append(buffer)
    return addressof(buffer)


def _function(function: Any) -> int | None:
    _kept.append(function)
    return cast(function, c_void_p).value


def _support_of(message: type, identifier: bytes) -> int:
    metaclass: Any = type(message)
    if metaclass._TYPE_SUPPORT is None:
        metaclass.__import_type_support__()
    address = _capsule_pointer(metaclass._TYPE_SUPPORT, None)
    found = _Find(cast(address, POINTER(_Support)).contents.find)(address, identifier)
    if not found:
        raise ImportError(f"{message.__name__} has no {identifier.decode()}: no messages on /tf")
    return int(found)


def _make() -> int:
    """Put the records together; return the address of the one that rclpy wants."""
    fast = _copy(_Support, _support_of(MarkerArray, FASTRTPS))
    callbacks = _copy(_Callbacks, fast.data)
    if ctypes.string_at(callbacks.name) != b"MarkerArray":
        raise ImportError("type supports are not laid out as in ROS 2 Jazzy: no messages on /tf")
    callbacks.namespace, callbacks.name = _text(b"tf2_msgs::msg"), _text(b"TFMessage")
    fast.data = addressof(callbacks)

    inner = _copy(_Support, _support_of(MarkerArray, INTROSPECTION))
    members = _copy(_Members, inner.data)
    member = _copy(_Member, members.members)
    if members.count != 1 or ctypes.string_at(member.name) != b"markers":
        raise ImportError("introspection is not laid out as in ROS 2 Jazzy: no messages on /tf")
    members.namespace, members.name = _text(b"tf2_msgs__msg"), _text(b"TFMessage")
    member.name, member.members = _text(b"transforms"), _support_of(TransformStamped, INTROSPECTION)
    members.members = addressof(member)
    inner.data = addressof(members)

    supports = {FASTRTPS: addressof(fast), INTROSPECTION: addressof(inner)}
    find = _function(_Find(lambda _, identifier: supports.get(identifier)))
    # one byte for the version of the hash before it
    sha = _text(b"\x01" + bytes.fromhex(HASH))
    tell = _function(_Hash(lambda _: sha))
    for support in (fast, inner):
        support.find, support.hash = find, tell
    return addressof(fast)


class Metaclass(type):
    """Carries the type support, where rclpy looks for it."""

    _TYPE_SUPPORT = _new_capsule(_make(), None, None)
    # A message that is not bytes is refused with a MemoryError: none can be created in C.
    _CREATE_ROS_MESSAGE = _new_capsule(_function(_Create(lambda: None)), None, None)
    _DESTROY_ROS_MESSAGE = _CONVERT_FROM_PY = _CONVERT_TO_PY = _CREATE_ROS_MESSAGE
