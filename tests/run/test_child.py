"""An object in a process of its own: what is left of a call that did not end as it should."""

import pytest

from poker.run.child import Child


class Echo:
    def say(self, text: str) -> str:
        return text


def test_an_interrupted_call_leaves_no_answer_to_the_next(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(seconds: float | None) -> bool:
        raise KeyboardInterrupt

    child = Child(Echo)
    assert child.call("say", "first") == "first"
    monkeypatch.setattr(child._pipe, "poll", interrupted)
    with pytest.raises(KeyboardInterrupt):
        child.call("say", "late")
    assert child.call("say", "next") == "next"
    child.kill()


def test_an_object_that_no_process_can_build_is_refused_at_every_call() -> None:
    class Local(Echo):
        """A class that another process cannot import."""

    child = Child(Local)
    for _ in range(2):
        with pytest.raises(AttributeError, match="pickle"):
            child.call("say", "anything")
        assert child.pid is None
        child.kill()
