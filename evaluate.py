"""`python evaluate.py evaluate=NAME [KEY=VALUE ...]`: measure how strong agents are. `--help` lists all settings."""

import hydra
from omegaconf import DictConfig

from conf.entry import one_line_errors, run
from conf.sweeps import in_own_folder
from poker.run.errors import PokernetsError


@one_line_errors
@hydra.main(version_base="1.3", config_path="conf", config_name="evaluate")
@one_line_errors
def main(config: DictConfig) -> float | None:
    """Run the evaluation and return its metric, which sweepers optimise.

    Raises:
        PokernetsError: the evaluation reports a failure.
    """
    config = in_own_folder(config)
    result = run(config, config.evaluate)
    if failure := getattr(result, "failure", ""):
        raise PokernetsError(failure)
    return result if isinstance(result, float) else getattr(result, "metric", None)


if __name__ == "__main__":
    main()
