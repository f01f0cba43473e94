"""`python train.py model=leaf`: train a net and export it. `--help` lists the groups and all settings."""

import sys

import hydra
from hydra.utils import instantiate
from omegaconf import DictConfig, OmegaConf

from conf.checks import check
from conf.entry import one_line_errors
from conf.sweeps import in_own_folder
from poker.run.lock import claimed


def train(config: DictConfig) -> float:
    """Train and export a net.

    Returns:
        The `metric` of the exported net, which sweepers minimise.

    Raises:
        PokernetsError: a setting is missing, of a wrong type or out of range.
    """
    from models.training.run import run_folder, settings_of  # noqa: PLC0415 (torch takes seconds to import)

    check(OmegaConf.to_container(config, resolve=True, throw_on_missing=True))
    config.run = config.run or run_folder(config)
    instantiate(config.process)

    data = instantiate(config.data, _convert_="all")
    model = instantiate(config.model, _convert_="all")
    if config.compile:
        model.net.compile()
    export = instantiate(config.export, settings=settings_of(config), _recursive_=False, _convert_="all")
    callbacks = [instantiate(callback) for callback in config.callbacks.values()]
    callbacks += [export] if export else []
    loggers = [instantiate(logger) for logger in config.logger.values()]
    trainer = instantiate(config.trainer, callbacks=callbacks, logger=loggers, _convert_="all")
    outputs = []
    if trainer.is_global_zero:
        print(f"trainer.precision: {config.trainer.precision}", file=sys.stderr)
        outputs = [config.run, config.export.output] if export else [config.run]

    with claimed(*outputs):
        trainer.fit(model, datamodule=data, ckpt_path=config.ckpt_path, weights_only=True)
        best = getattr(trainer.checkpoint_callback, "best_model_path", None)  # by the monitored metric, else the last
        trainer.validate(model, datamodule=data, ckpt_path=best or None, weights_only=True)  # `export` writes the net
    return float(trainer.callback_metrics[config.metric])


@one_line_errors
@hydra.main(version_base="1.3", config_path="conf", config_name="train")
@one_line_errors
def main(config: DictConfig) -> float:
    """Train with the composed configuration; a job of a sweep has folders of its own."""
    return train(in_own_folder(config))


if __name__ == "__main__":
    main()
