"""Programs, devices and data that some tests need: `python -m tests.needs` says which tests this machine skips."""

import shutil
from pathlib import Path

_DATA = Path(__file__).parents[1] / "shared" / "data"
ARCHIVE, SET = _DATA / "nolimit_hands.tar.xz", _DATA / "pokerbench.tar.xz"
BROWSER = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
DRIVER = shutil.which("chromedriver")


def skipped() -> str:
    """Return one line that names the tests which are skipped here, with what each of them needs."""
    needs = {
        "tests in a browser (sudo apt-get install chromium chromium-driver)": BROWSER and DRIVER,
        "tests on a GPU (a machine with CUDA)": shutil.which("nvidia-smi"),
        f"tests of the archive of hands ({ARCHIVE})": ARCHIVE.exists(),
        f"tests of PokerBench ({SET})": SET.exists(),
    }
    missing = [tests for tests, is_here in needs.items() if not is_here]
    return f"Skipped here, with what they need: {'; '.join(missing)}." if missing else "No test is skipped here."


if __name__ == "__main__":
    print(skipped(), flush=True)
