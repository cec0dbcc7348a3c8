"""A program that forks beside its pipeline: ``python -W error -m tests.delivery.forking HOW ...``.

Each side reports before and after; a plugin writes down what it hears. The program ends by itself
unless something waits for ever.
"""

from __future__ import annotations

import multiprocessing
import os
import sys
import threading
from collections.abc import Callable
from pathlib import Path

from failhook.pipeline import Pipeline
from failhook.plugin import Task
from tests.delivery.plugins import Appending
from tests.delivery.processes import BUG, pipeline_on


def report(pipeline: Pipeline, name: str) -> None:
    """Report one failure as a host does: the attempt is opened first."""
    pipeline.failed(pipeline.started(Task("forks", name, run_id="r")), BUG)


def open_pipeline(where: str, folder: Path) -> Pipeline:
    """Return a pipeline with two plugins that write down what they hear."""
    plugins = {name: Appending(folder / name) for name in ("one", "two")}
    return pipeline_on(where, plugins)


def one_by_one(where: str, folder: Path, forks: int) -> None:
    """Fork again and again; each child reports once and ends."""
    with open_pipeline(where, folder) as pipeline:
        for number in range(forks):
            report(pipeline, f"before-{number}")
            child = os.fork()
            if child == 0:
                _child(lambda number=number: report(pipeline, f"child-{number}"), pipeline)
            report(pipeline, f"after-{number}")
            _wait(child)


def abruptly(where: str, folder: Path, forks: int) -> None:
    """Fork children that report and are gone, in the middle of whatever their threads do."""
    with open_pipeline(where, folder) as pipeline:
        for number in range(forks):
            child = os.fork()
            if child == 0:
                report(pipeline, f"child-{number}")
                os._exit(0)
            _wait(child)
        while pipeline.store.pending():
            pipeline.flush(1.0)


def from_busy_threads(where: str, folder: Path, forks: int) -> None:
    """Fork while other threads report without a pause."""
    over = threading.Event()

    def busy(thread: int) -> None:
        number = 0
        while not over.wait(0.001):
            report(pipeline, f"busy-{thread}-{number}")
            number += 1

    with open_pipeline(where, folder) as pipeline:
        threads = [threading.Thread(target=busy, args=(number,)) for number in range(2)]
        for thread in threads:
            thread.start()
        for number in range(forks):
            child = os.fork()
            if child == 0:
                _child(lambda number=number: report(pipeline, f"child-{number}"), pipeline)
            report(pipeline, f"after-{number}")
            _wait(child)
        over.set()
        for thread in threads:
            thread.join()


def prefork(where: str, folder: Path, forks: int) -> None:
    """Start workers as a web server does: fork all of them, each serves for a while."""
    with open_pipeline(where, folder) as pipeline:
        report(pipeline, "before-0")
        workers = 4
        children = []
        for worker in range(workers):
            child = os.fork()
            if child == 0:

                def serve(worker: int = worker) -> None:
                    for number in range(worker, forks, workers):
                        report(pipeline, f"child-{number}")

                _child(serve, pipeline)
            children.append(child)
        report(pipeline, "after-0")
        for child in children:
            _wait(child)


def generations(where: str, folder: Path, forks: int) -> None:
    """Let each child fork the next one."""
    with open_pipeline(where, folder) as pipeline:
        _generation(pipeline, 0, forks)


def _generation(pipeline: Pipeline, number: int, forks: int) -> None:
    report(pipeline, f"before-{number}")
    if number + 1 < forks:
        child = os.fork()
        if child == 0:
            _child(lambda: _generation(pipeline, number + 1, forks), pipeline)
        _wait(child)
    report(pipeline, f"after-{number}")


def pool(where: str, folder: Path, forks: int, method: str) -> None:
    """Report from the workers of a `multiprocessing` pool, and around it."""
    with open_pipeline(where, folder) as pipeline:
        report(pipeline, "before-0")
        context = multiprocessing.get_context(method)
        inherited = pipeline if method == "fork" else None
        with context.Pool(2, _begin_worker, (where, folder, inherited)) as workers:
            workers.map(_work, range(forks), chunksize=3)
            report(pipeline, "after-0")
            workers.close()
            workers.join()


_WORKER: list[Pipeline] = []
"""The pipeline of a pool's worker; a pool has no other place for it."""


def _begin_worker(where: str, folder: Path, inherited: Pipeline | None) -> None:
    _WORKER.append(inherited or open_pipeline(where, folder))


def _work(number: int) -> None:
    report(_WORKER[0], f"child-{number}")
    assert _WORKER[0].flush(30.0)


def _child(work: Callable[[], None], pipeline: Pipeline) -> None:
    """Do a child's work and leave without what the parent had planned for its own end."""
    status = 1
    try:
        work()
        pipeline.close(30.0)  # what it says is about the parent's events on the same store too
        status = 0
    finally:
        sys.stderr.flush()
        os._exit(status)


def _wait(child: int) -> None:
    _, status = os.waitpid(child, 0)
    if status:
        sys.exit(f"a child ended with {os.waitstatus_to_exitcode(status)}")


def main(how: str, where: str, folder: str, forks: str, *more: str) -> None:
    """Run one of the ways to fork."""
    ways = {
        "one-by-one": one_by_one,
        "abruptly": abruptly,
        "busy-threads": from_busy_threads,
        "prefork": prefork,
        "generations": generations,
        "pool": pool,
    }
    ways[how](where, Path(folder), int(forks), *more)


if __name__ == "__main__":
    main(*sys.argv[1:])
