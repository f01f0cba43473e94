"""`python evaluate.py evaluate=match|exploitability|acpc|...`: how strong agents are. `--help` lists every setting."""

from conf.launch import launch, task_of

if __name__ == "__main__":
    launch("evaluate", task_of("evaluate"))
