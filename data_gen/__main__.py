"""`python -m data_gen job=NAME`: make one artifact. `--help` lists the jobs and every setting."""

from conf.launch import call, chosen, launch


def main() -> None:
    """Run the job that the command line names."""
    launch("data_gen", lambda config: call(chosen(config, "job")))


if __name__ == "__main__":
    main()
