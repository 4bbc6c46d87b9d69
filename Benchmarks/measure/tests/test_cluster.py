"""Tests of how clusters are described and asked."""

import unittest
import zlib

from measure.members import Members
from measure.nodes import Cluster
from measure.probes import Probe
from measure.servers import Server


class ClusterTests(unittest.TestCase):
    def test_each_shard_has_a_scene_to_be_asked_for(self) -> None:
        for shards in (1, 3, 64):
            cluster = Cluster("test", "/test/", shards, Members((1,), (2,)))
            for shard in range(shards):
                slot = zlib.crc32(cluster.scene_in(shard).encode()) & 0x3FFF
                self.assertEqual(slot * shards // 0x4000, shard)

    def test_a_server_of_several_nodes_has_all_their_ports(self) -> None:
        server = Server("nodes-3", "arbiter", 1, 10, (2, 3), (11, 12))
        self.assertEqual((server.ports, server.pids), ((1, 2, 3), (10, 11, 12)))


class ProbeTests(unittest.TestCase):
    def setUp(self) -> None:
        self.probe = Probe("scene", 1)

    def test_the_longest_gap_is_the_one_without_an_owner(self) -> None:
        self.probe.grants = [1.0, 1.1, 6.1, 6.2]
        self.assertEqual(self.probe.longest_gap(since=1.05), (1.1, 6.1))

    def test_a_gap_that_had_ended_before_does_not_count(self) -> None:
        self.probe.grants = [0.0, 9.0, 9.1, 9.5]
        self.assertEqual(self.probe.longest_gap(since=9.05), (9.1, 9.5))
