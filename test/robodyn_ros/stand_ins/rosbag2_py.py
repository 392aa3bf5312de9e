# SPDX-License-Identifier: Apache-2.0

"""Stand-in for the part of rosbag2 that the recorder uses, with Jazzy's signatures and errors.

A bag is a folder with its messages and topics in a pickle, written when it is closed.
"""

from __future__ import annotations

import pickle
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml


@dataclass
class StorageOptions:
    uri: str
    storage_id: str = ""
    max_bagfile_size: int = 0
    max_bagfile_duration: int = 0
    max_cache_size: int = 0
    storage_preset_profile: str = ""


@dataclass
class ConverterOptions:
    input_serialization_format: str = ""
    output_serialization_format: str = ""


@dataclass
class TopicMetadata:
    id: int
    name: str
    type: str
    serialization_format: str
    offered_qos_profiles: list[Any] = field(default_factory=list)
    type_description_hash: str = ""


@dataclass
class BagMetadata:
    custom_data: dict[str, str] = field(default_factory=dict)


class MetadataIo:
    def read_metadata(self, uri: str) -> BagMetadata:
        return BagMetadata(**yaml.safe_load(Path(uri, "metadata.yaml").read_text()))

    def write_metadata(self, uri: str, metadata: BagMetadata) -> None:
        Path(uri, "metadata.yaml").write_text(yaml.safe_dump(vars(metadata)))


class SequentialWriter:
    def open(self, options: StorageOptions, converter: ConverterOptions) -> None:
        self.folder = Path(options.uri)
        if self.folder.is_dir():
            raise RuntimeError(f"Bag directory already exists ({self.folder}), can't overwrite")
        self.folder.mkdir(parents=True)
        self.options = options
        self.topics: dict[str, TopicMetadata] = {}
        self.messages: list[tuple[str, int, bytes]] = []

    def create_topic(self, topic: TopicMetadata) -> None:
        self.topics[topic.name] = topic

    def write(self, topic_name: str, message: bytes, time_stamp: int) -> None:
        if topic_name not in self.topics:
            raise RuntimeError(f"Topic {topic_name} has not been created yet!")
        self.messages.append((topic_name, time_stamp, bytes(message)))

    def close(self) -> None:
        topics = {name: vars(topic) for name, topic in self.topics.items()}
        whole = {"topics": topics, "messages": self.messages, "options": vars(self.options)}
        (self.folder / "bag.pickle").write_bytes(pickle.dumps(whole))
        MetadataIo().write_metadata(str(self.folder), BagMetadata())


def to_rclcpp_qos_vector(serialized: str, version: int) -> list[Any]:
    assert version == 8  # policies by their numbers
    return list(yaml.safe_load(serialized))
