"""Errors of other people's code: which of it is the user's own."""

from pathlib import Path

import pytest

from poker.run.errors import of_user_code


@pytest.mark.parametrize("folder", ["lib64/python3.11/site-packages", "local/lib/python3/dist-packages"])
def test_installed_packages_are_not_the_users_code(tmp_path: Path, folder: str) -> None:
    file = tmp_path / folder / "library.py"
    file.parent.mkdir(parents=True)
    file.write_text("raise ValueError('no idea')\n")
    with pytest.raises(ValueError, match="no idea") as raised:
        exec(compile(file.read_text(), file, "exec"))
    assert f"no idea ({__file__}, line " in of_user_code(raised.value)
