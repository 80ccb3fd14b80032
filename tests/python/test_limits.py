"""Limits of sessions and users: set in ttfd.toml, refused by name, seen in ttfdctl limits."""

import json

import pytest

import ttfd
from conftest import Daemon, eventually

CONFIG = """
[limits]
buffers = 2
buffers_per_user = 3
dram_bytes = 1048576
dram_bytes_per_user = 1572864
idle_ms = 0
"""


@pytest.fixture(scope="module")
def small_daemon():
    """A daemon with small limits."""
    running = Daemon(config=CONFIG)
    yield running
    running.end()


def limits(daemon):
    """What ttfdctl limits says."""
    result = daemon.ctl("limits", "--json")
    assert result.returncode == 0, result.stderr
    return json.loads(result.stdout)


def uses(daemon, session):
    """Of a session by its id, or of the user with 0."""
    return next({use["name"]: use["used"] for use in entry["uses"]} for entry in limits(daemon)["usage"]
                if entry["session"] == session and entry["scope"] == ("session" if session else "user"))


def test_limits_of_the_file_are_in_force_and_shown(small_daemon):
    shown = {entry["name"]: entry for entry in limits(small_daemon)["limits"]}
    assert (shown["buffers"]["value"], shown["buffers"]["scope"]) == (2, "session")
    assert (shown["buffers_per_user"]["value"], shown["buffers_per_user"]["scope"]) == (3, "user")
    assert shown["idle_ms"]["value"] == 0
    assert shown["handles"]["value"] == 65536
    with ttfd.connect(small_daemon.address, client_name="first") as first, ttfd.connect(small_daemon.address) as second:
        kept = [first.allocate_dram(4096), first.allocate_dram(4096)]
        with pytest.raises(ttfd.Error) as refused:
            first.allocate_dram(4096)
        error = refused.value
        assert (error.code, error.reason) == (ttfd.Code.RESOURCE_EXHAUSTED, "LIMIT")
        assert (error.limit, error.limit_value, error.limit_used) == ("buffers", 2, 2)
        kept.append(second.allocate_dram(4096))
        with pytest.raises(ttfd.Error) as refused:
            second.allocate_dram(4096)
        assert (refused.value.limit, refused.value.limit_value, refused.value.limit_used) == ("buffers_per_user", 3, 3)
        assert uses(small_daemon, first.id)["buffers"] == 2
        assert uses(small_daemon, 0)["buffers_per_user"] == 3
        assert uses(small_daemon, 0)["sessions_per_user"] == 2
        text = small_daemon.ctl("limits").stdout
        assert "buffers_per_user" in text and f"session {first.id} (first)" in text
        kept[0].free()
        first.queue.wait(first.queue.enqueue_barrier())
        second.allocate_dram(4096).free()


def test_connections_are_shown_with_their_use():
    daemon = Daemon(config="[listen]\nconnections = 40\nconnections_per_user = 30\n")
    try:
        with ttfd.connect(daemon.address), ttfd.connect(daemon.address):
            shown = {entry["name"]: (entry["value"], entry["scope"]) for entry in limits(daemon)["limits"]}
            assert shown["connections"] == (40, "daemon")
            assert shown["connections_per_user"] == (30, "user")

            def used():
                return {use["name"]: (use["value"], use["used"]) for entry in limits(daemon)["usage"]
                        if entry["scope"] != "session" for use in entry["uses"]}

            # With that of ttfdctl. A connection counts a moment longer than its client.
            eventually(lambda: (used()["connections"], used()["connections_per_user"]) == ((40, 3), (30, 3)))
            eventually(lambda: any(line.split() == ["the", "daemon", "connections", "3", "40"]
                                   for line in daemon.ctl("limits").stdout.splitlines()))
        # Of who has no session, too.
        used = {use["name"]: use["used"] for entry in limits(daemon)["usage"] for use in entry["uses"]}
        assert used["connections_per_user"] >= 1
    finally:
        daemon.end()


def test_bytes_of_a_user_are_those_of_all_its_sessions(small_daemon):
    with ttfd.connect(small_daemon.address) as first, ttfd.connect(small_daemon.address) as second:
        first.allocate_dram(1 << 20, page_bytes=4096)
        with pytest.raises(ttfd.Error) as refused:
            second.allocate_dram(1 << 20, page_bytes=4096)
        assert refused.value.limit == "dram_bytes_per_user"
        assert refused.value.limit_used == uses(small_daemon, first.id)["dram_bytes"]


def test_a_session_too_many_is_refused_by_name():
    daemon = Daemon(config="[limits]\nsessions_per_user = 1\n")
    try:
        with ttfd.connect(daemon.address), pytest.raises(ttfd.Error) as refused:
            ttfd.connect(daemon.address)
        assert (refused.value.limit, refused.value.limit_value, refused.value.limit_used) == ("sessions_per_user", 1, 1)
    finally:
        daemon.end()
