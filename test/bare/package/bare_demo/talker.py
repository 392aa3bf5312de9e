# SPDX-License-Identifier: Apache-2.0

"""Node that logs its name, its topic and its parameters, and then publishes."""

import json
import sys

import rclpy
from rcl_interfaces.msg import FloatingPointRange, ParameterDescriptor
from rclpy.executors import ExternalShutdownException
from rclpy.node import Node
from rclpy.qos import QoSDurabilityPolicy, QoSProfile
from std_msgs.msg import String
from std_srvs.srv import SetBool, Trigger

DEFAULTS = {
    "text": "hello",
    "rate": 50.0,
    "count": 1,
    "names": ["none"],
    "flag": False,
    "complain": False,
    "nested.name": "none",
}


class Talker(Node):
    """Publishes its text, reliable and transient local."""

    def __init__(self) -> None:
        super().__init__("talker")
        rates = FloatingPointRange(from_value=0.1, to_value=100.0)
        about = ParameterDescriptor(
            description="messages a second", read_only=True, floating_point_range=[rates]
        )
        for name, default in DEFAULTS.items():
            self.declare_parameter(name, default, about if name == "rate" else None)
        qos = QoSProfile(depth=1, durability=QoSDurabilityPolicy.TRANSIENT_LOCAL)
        self.publisher = self.create_publisher(String, "chatter", qos)
        self.create_timer(1.0 / self.get_parameter("rate").value, self.talk)
        self.create_service(Trigger, "~/start", self.start)
        self.create_service(SetBool, "~/shout", self.shout)

    def talk(self) -> None:
        self.publisher.publish(String(data=self.get_parameter("text").value))
        if self.get_parameter("complain").value:
            self.get_logger().warning(200 * "x")

    def start(self, request: Trigger.Request, response: Trigger.Response) -> Trigger.Response:
        response.success, response.message = True, "started"
        return response

    def shout(self, request: SetBool.Request, response: SetBool.Response) -> SetBool.Response:
        response.success, response.message = True, f"shout: {request.data}"
        return response

    def describe(self) -> str:
        values = {name: self.get_parameter(name).value for name in DEFAULTS}
        values["names"] = list(values["names"])
        about = {"name": self.get_fully_qualified_name(), "topic": self.publisher.topic_name}
        return json.dumps({**about, **values})


def main() -> None:
    rclpy.init()
    talker = Talker()
    print("talker:", talker.describe(), sys.argv[1:2], flush=True)
    try:
        rclpy.spin(talker)
    except (KeyboardInterrupt, ExternalShutdownException):
        pass
    except Exception:
        # rclpy's signal handler may shut down in the middle of a callback.
        if rclpy.ok():
            raise
    finally:
        rclpy.try_shutdown()
