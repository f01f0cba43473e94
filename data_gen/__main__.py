"""`python -m data_gen job=NAME`: make one artifact. `--help` lists the jobs and every setting."""

from conf.launch import launch, task_of

if __name__ == "__main__":
    launch("data_gen", task_of("job"))
