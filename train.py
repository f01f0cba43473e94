"""`python train.py model=leaf`: train a net and export it. `--help` lists the groups and all settings."""

import sys

import hydra
from hydra.utils import instantiate
from omegaconf import DictConfig

from conf.entry import one_line_errors
from conf.sweeps import in_own_folder


def train(config: DictConfig) -> float:
    """Train and export a net.

    Returns:
        The `metric` of the exported net, which sweepers minimise.
    """
    import torch  # noqa: PLC0415 (torch and Lightning take seconds to import, and --help does not need them)
    from lightning import seed_everything  # noqa: PLC0415

    from models.training.run import precision_of, quiet, run_folder, settings_of  # noqa: PLC0415

    quiet()
    torch.set_num_threads(config.threads)
    config.run = config.run or run_folder(config)
    seed_everything(config.seed % 2**32, workers=True, verbose=False)

    data = instantiate(config.data, _convert_="all")
    model = instantiate(config.model, _convert_="all")
    if config.compile:
        model.net.compile()
    export = instantiate(config.export, settings=settings_of(config), _recursive_=False, _convert_="all")
    callbacks = [instantiate(callback) for callback in config.callbacks.values()]
    callbacks += [export] if export else []
    loggers = [instantiate(logger) for logger in config.logger.values()]
    precision = precision_of(config.trainer)
    trainer = instantiate(config.trainer, precision=precision, callbacks=callbacks, logger=loggers, _convert_="all")
    if trainer.is_global_zero:
        print(f"trainer.precision: {precision}", file=sys.stderr)

    trainer.fit(model, datamodule=data, ckpt_path=config.ckpt_path, weights_only=True)
    best = trainer.checkpoint_callback.best_model_path  # of the monitored metric, else of the last epoch
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
