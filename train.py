"""`python train.py model=leaf`: train a net and export it. `--help` lists the models and every setting."""

import hydra
from omegaconf import DictConfig

from conf.entry import one_line_errors, run
from conf.sweeps import in_own_folder


@one_line_errors
@hydra.main(version_base="1.3", config_path="conf", config_name="train")
@one_line_errors
def main(config: DictConfig) -> float | None:
    """Train the net, and return its validation loss, which sweepers optimise."""
    config = in_own_folder(config)
    result = run(config, config.model)
    return result if isinstance(result, float) else None


if __name__ == "__main__":
    main()
