"""`python train.py model=leaf`: train a net and export it. `--help` lists the models and every setting."""

from conf.launch import launch, task_of

if __name__ == "__main__":
    launch("train", task_of("model"))
