"""`python train.py model=leaf`: train a net and export it. `--help` lists the models and every setting."""

from conf.launch import call, chosen, launch


def main() -> None:
    """Train the model that the command line names."""
    launch("train", lambda config: call(chosen(config, "model")))


if __name__ == "__main__":
    main()
