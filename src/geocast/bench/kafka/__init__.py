"""The service with Kafka, measured from topic to topic: throughput, delay, and where time goes."""

from geocast.bench.kafka.carrying import measure_carrying
from geocast.bench.kafka.delay import Delay, measure_delay
from geocast.bench.kafka.scene import KafkaScene, draw_scene
from geocast.bench.kafka.stages import Stage, measure_stages
from geocast.bench.kafka.system import KafkaService, running_broker
from geocast.bench.kafka.throughput import Round, Throughput, measure_throughput, warm_up
from geocast.bench.kafka.usage import RoleUsage
from geocast.bench.kafka.yardstick import CoreRate, measure_core

__all__ = [
    "CoreRate",
    "Delay",
    "KafkaScene",
    "KafkaService",
    "RoleUsage",
    "Round",
    "Stage",
    "Throughput",
    "draw_scene",
    "measure_carrying",
    "measure_core",
    "measure_delay",
    "measure_stages",
    "measure_throughput",
    "running_broker",
    "warm_up",
]
