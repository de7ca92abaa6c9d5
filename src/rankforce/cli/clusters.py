"""Clusters that commands train on: ``--cluster ADDRESS`` has a scheduler, ``--workers N`` starts processes here."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from rankforce.errors import SettingsError, missing_dependency


@contextlib.contextmanager
def cluster_client(address: str | None, workers: int | None, threads: int | None) -> Iterator[Any]:
    """A client of Dask's while the block runs; None if no cluster was asked for."""
    if address is None and workers is None:
        yield None
        return
    if address is not None and workers is not None:
        raise SettingsError("--cluster has workers, --workers starts some here: give one of them")
    if address is not None:
        client_class, _ = _dask()
        try:
            client = client_class(address, timeout="20 s")
        except (OSError, TimeoutError, ValueError) as error:
            raise SettingsError(f"--cluster {address}: there is no scheduler of Dask's: {error}") from None
        except TypeError as error:  # Dask's word for a scheme that needs certificates
            raise SettingsError(
                f"--cluster {address}: {error}: name the certificates in Dask's configuration, "
                "distributed.comm.tls, or in the variables DASK_DISTRIBUTED__COMM__TLS__CA_FILE, "
                "..__CLIENT__CERT and ..__CLIENT__KEY"
            ) from None
        with client:
            yield client
        return
    from rankforce.processors import usable_processors

    assert workers is not None
    if workers < 1:
        raise SettingsError(f"--workers must be a positive whole number, not {workers}")
    with workers_here(workers, threads or max(1, usable_processors() // workers), processes=True) as client:
        yield client


@contextlib.contextmanager
def workers_here(workers: int, threads: int = 1, *, processes: bool = False) -> Iterator[Any]:
    """A client of workers on this machine, in this process or each in its own, while the block runs."""
    client_class, cluster_class = _dask()
    with (
        cluster_class(
            n_workers=workers, threads_per_worker=threads, processes=processes, dashboard_address=":0"
        ) as cluster,
        client_class(cluster) as client,
    ):
        yield client


def _dask() -> tuple[Any, Any]:
    """``Client`` and ``LocalCluster``, where they are installed."""
    try:
        from distributed import Client, LocalCluster
    except ImportError:
        raise missing_dependency("distributed", "cluster", "training on a cluster") from None
    return Client, LocalCluster


def refuse_on_cluster(client: Any, **options: Any) -> None:
    """Raise for options that were given and cannot be had on a cluster."""
    if client is None:
        return
    for option, given in options.items():
        if given:
            raise SettingsError(f"--{option.replace('_', '-')} is for training on one machine: leave it out")


def learning_data(
    client: Any,
    model: Any,
    files: Sequence[str],
    validation: str | None,
    read: list[str] | None,
    categorical: list[str] | None,
) -> tuple[Any, Any]:
    """Training and validation data: here, or on a cluster, if the ranker can learn there."""
    from rankforce.cli.reading import read_data, reading_options
    from rankforce.data.spread import check_takes_spread

    if client is None:
        # Training data first: its categories are those of validation data, however few of them a small file repeats.
        train = read_data(files, read, categorical=categorical)
        return train, None if validation is None else read_data(validation, read, categorical=categorical, like=train)
    check_takes_spread(model, type(model).__name__)
    options = reading_options(read, categorical)
    train = share(client, files, options, max_bins=getattr(model, "max_bins", 255))
    return train, None if validation is None else share(client, [validation], options, like=train)


def share(client: Any, files: Sequence[str], options: Mapping[str, Any], **further: Any) -> Any:
    """The data of files on a cluster; says how much it is."""
    import rankforce as rf
    from rankforce.cli import output

    if "-" in files:
        raise SettingsError("standard input is read once, and workers read files: write it to one first")
    paths = [os.path.abspath(one) if not any(mark in one for mark in "*?[") else one for one in files]
    data = rf.shared(paths if len(paths) > 1 else paths[0], client, **further, **options)
    output.note(repr(data))
    return data
