"""How much memory can be had."""

from __future__ import annotations

import sys

import pytest

from rankforce import memory
from rankforce.errors import DataError, SettingsError
from rankforce.memory import available_memory, check_memory, written_size


def test_the_refusal_says_what_is_needed_what_can_be_had_and_what_to_do(monkeypatch):
    monkeypatch.setattr(memory, "available_memory", lambda: 2_000_000)
    check_memory(2_000_000, "a table", "a × b", "be modest")
    with pytest.raises(SettingsError) as caught:
        check_memory(3_000_000, "a table", "1,000 rows × 3,000 bytes", "take fewer rows")
    assert str(caught.value) == (
        "a table needs 3.0 MB of memory (1,000 rows × 3,000 bytes), and 2.0 MB can be had: take fewer rows"
    )
    with pytest.raises(DataError):
        check_memory(3_000_000, "a table", "", "", DataError)
    monkeypatch.setattr(memory, "available_memory", lambda: None)
    check_memory(2**80, "a table", "", "")


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="/proc")
def test_what_can_be_had_is_less_than_what_there_is():
    with open("/proc/meminfo") as file:
        total = int(file.readline().split()[1]) * 1024
    assert 10_000_000 < available_memory() < total


@pytest.mark.parametrize("version", [1, 2])
def test_the_limit_of_a_container_counts_without_what_is_only_cached(version, tmp_path, monkeypatch):
    folder = tmp_path if version == 2 else tmp_path / "memory"
    folder.mkdir(exist_ok=True)
    limit, usage, cached = (
        ("memory.max", "memory.current", "inactive_file")
        if version == 2
        else ("memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file")
    )
    (folder / limit).write_text("50000\n")
    (folder / usage).write_text("30000\n")
    (folder / "memory.stat").write_text(f"anon 7\n{cached} 10000\n")
    monkeypatch.setattr(memory, "_CGROUP_FOLDER", tmp_path)
    assert available_memory() == 30_000
    (folder / limit).write_text("max\n")
    assert available_memory() > 10_000_000


def test_sizes_are_written_with_few_digits():
    assert [written_size(n) for n in (0, 999, 1500, 340e6, 7.25e12)] == [
        "0 bytes", "999 bytes", "1.5 kB", "340 MB", "7.2 TB",
    ]  # fmt: skip
