"""The course of a loss in few numbers, however long the run is."""

from __future__ import annotations

from stepscope.evidence.loss_course import LossCourse


def course_of(losses: list[float]) -> LossCourse:
    course = LossCourse()
    for loss in losses:
        course.add(loss)
    return course


def test_keeps_the_first_the_highest_and_the_late_losses():
    course = course_of([1.0, 5.0, *[2.0] * 22, *[0.5] * 24])
    assert (course.first, course.highest, course.late) == (1.0, 5.0, 0.5)


def test_a_long_run_keeps_no_more_than_a_short_one():
    course = course_of([float(1000 - step // 10) for step in range(10_000)])
    assert course.count == 10_000
    assert len(course.medians) < 64
    assert course.late is not None
    assert course.late < 50


def test_says_nothing_of_the_end_of_a_short_run():
    assert course_of([3.0] * 30).late is None
