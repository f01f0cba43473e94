"""Names of the packages in a clone and in an installation, which holds them inside `pokernets`."""

import pytest

from models.training.mlp import Mlp
from poker.store import naming
from poker.store.naming import importable, stable_name
from tests.cases import cases


@cases
def test_an_installation_has_its_own_modules_inside_and_a_user_keeps_theirs(
    name: str, inside: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert importable(name) == name
    monkeypatch.setattr(naming, "_ABOVE", "pokernets.")
    assert importable(name) == (f"pokernets.{name}" if inside else name)


def test_records_have_the_names_of_a_clone(monkeypatch: pytest.MonkeyPatch) -> None:
    assert stable_name(Mlp) == "models.mlp.Mlp"
    monkeypatch.setattr(naming, "_ABOVE", "pokernets.")
    monkeypatch.setattr(Mlp, "__module__", "pokernets.models.training.mlp")
    assert stable_name(Mlp) == "models.mlp.Mlp"


def test_moved_classes_load_by_their_stored_names() -> None:
    assert importable("models.mlp.Mlp") == "models.training.mlp.Mlp"
