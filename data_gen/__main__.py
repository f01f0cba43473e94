"""`python -m data_gen job=NAME [KEY=VALUE ...]`: make one artifact. `--help` lists all settings."""

import hydra
from omegaconf import DictConfig

from conf.entry import one_line_errors, run
from conf.sweeps import in_own_folder
from poker.run.errors import PokernetsError
from poker.run.lock import claimed


@one_line_errors
@hydra.main(version_base="1.3", config_path="../conf", config_name="data_gen")
@one_line_errors
def main(config: DictConfig) -> None:
    """Run the job that the configuration chooses.

    A lock keeps other commands from making the same artifact at the same time.

    Raises:
        PokernetsError: no job is chosen.
    """
    if "job" not in config:
        raise PokernetsError("choose an artifact with job=NAME; --help lists the jobs")
    config = in_own_folder(config)
    with claimed(config.job.output):
        run(config, config.job)


if __name__ == "__main__":
    main()
