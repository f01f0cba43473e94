"""A player's policy at each of its decisions, for every hand it could hold, stored beside the log of a match.

There is one JSON line per decision: hand, player, betting, actions, and the probabilities [H, A] as base64 of deflated
float32. A line without actions records that the player failed there.
"""

import base64
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from poker.game.state import Policy
from poker.run.errors import PokernetsError
from poker.run.limits import MOST_NOTE_BYTES, LimitError, decompressed, parse_json
from poker.store.lines import JsonLines

Decision = tuple[int, int, str]
"""Number of the hand, player, and betting so far."""


def append_note(path: Path, hand: int, player: int, betting: str, policy: Policy | None) -> None:
    """Append the note of one decision.

    Args:
        path: file of the notes.
        betting: betting before the decision.
        policy: (actions [A], probabilities [H, A]); None if the player failed.
    """
    row: dict[str, object] = {"hand": hand, "player": player, "betting": betting}
    if policy is not None:
        actions, probs = policy
        packed = zlib.compress(np.ascontiguousarray(probs, dtype="<f4").tobytes())
        row |= {"actions": [int(action) for action in actions], "probs": base64.b64encode(packed).decode()}
    JsonLines(path).append([row])


@dataclass(frozen=True)
class Notes:
    """The notes of a file.

    Attributes:
        path: the file.
        lines: the line of each decision; None where the player failed.
    """

    path: Path
    lines: Mapping[Decision, str | None]

    @classmethod
    def read(cls, path: Path, start: int = 0) -> "Notes":
        """Read a file of notes; an incomplete last line is left out.

        Args:
            path: the file.
            start: byte to start at, where a line begins.

        Raises:
            PokernetsError: there is no such file, or a line is invalid.
        """
        if not path.is_file():
            raise PokernetsError(f"no notes at {path}; evaluate=acpc_client writes them beside its log")
        lines: dict[Decision, str | None] = {}
        with path.open(encoding="ascii", errors="replace") as file:
            file.seek(start)
            for number, line in enumerate(file, 1):
                if not line.endswith("\n"):
                    break
                try:
                    row = parse_json(line)
                    decision = (int(row["hand"]), int(row["player"]), str(row["betting"]))
                except (ValueError, KeyError, TypeError, OverflowError, LimitError) as error:
                    raise PokernetsError(f"{path}, line {number}: not a note of a decision ({error})") from error
                lines[decision] = line if "actions" in row else None
        return cls(path, lines)

    def policy(self, decision: Decision) -> Policy:
        """Return the policy at a decision that has one.

        Returns:
            (actions [A], float32 probabilities [H, A]).

        Raises:
            PokernetsError: the note is damaged.
        """
        line = self.lines[decision]
        assert line is not None
        try:
            row = parse_json(line)
            actions = tuple(map(int, row["actions"]))
            packed = decompressed(base64.b64decode(row["probs"]), MOST_NOTE_BYTES)
            return actions, np.frombuffer(packed, dtype="<f4").reshape(-1, len(actions))
        except (ValueError, KeyError, TypeError, OverflowError, zlib.error, LimitError) as error:
            raise PokernetsError(f"{self.path}: the note of {decision} has no policy ({error})") from error
