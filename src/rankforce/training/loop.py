"""The loop of every training: step, callbacks, progress, checkpoint; until the end, patience's end or Ctrl-C."""

from __future__ import annotations

import functools
import math
import time
from collections.abc import Sequence

from rankforce.collective import anybody, is_first
from rankforce.console.progress import Progress
from rankforce.training.checkpoint import Checkpoint
from rankforce.training.course import Course
from rankforce.training.monitoring import Callback, Iteration, in_words, titled


def run(
    course: Course, steps: int, name: str, *, callbacks: Sequence[Callback], checkpoint: Checkpoint | None, shown: bool
) -> list[float]:
    """Take a course through at most ``steps`` steps, from its checkpoint on if there is one.

    Of several members the first has callbacks and a progress bar; whoever wants to stop stops all, after the same step.
    Returns the seconds that had passed after each step; NaN for those that a checkpoint has spared. The course is told
    if it was interrupted.
    """
    began = time.monotonic()
    last = None if checkpoint is None else checkpoint.last()
    done = 0 if checkpoint is None or last is None else course.resume(last, checkpoint.path)
    interrupted = False
    with course.interruption as interruption, Progress(name, steps, course.unit, shown and is_first()) as bar:
        bar.in_words = functools.partial(in_words, watched=course.monitor.names)
        bar.explain(course.settled)
        for remark in course.remarks:
            bar.say(remark)
        ending = course.ended
        seconds = [math.nan] * done
        watched = titled(course.monitor.names)
        while done < steps and not ending and course.step(done):
            done += 1
            monitor = course.monitor
            iteration = Iteration(done, monitor.values, monitor.history, monitor.best_iteration)
            for callback in callbacks if is_first() else ():
                callback(iteration)
            bar.advance(done, monitor.values, monitor.history, watched)
            seconds.append(time.monotonic() - began)
            ending = course.ended or done == steps
            if not ending and anybody(iteration.stopped or interruption.wanted):
                ending = True
                interrupted = anybody(iteration.interrupted or interruption.wanted)
                course.announced = iteration.interrupted
            if checkpoint is not None and (ending or done % checkpoint.every == 0):
                course.write(checkpoint, last=ending)
    if interrupted or course.cut_short:
        course.interrupted = f"after {course.done:,} of {steps:,} {course.unit}"
    return seconds
