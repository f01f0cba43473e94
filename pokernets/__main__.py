"""`python -m pokernets`: the command where no script of that name is on the path."""

from pokernets.command import main

if __name__ == "__main__":
    main()
