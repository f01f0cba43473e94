"""`python -m pokernets`: the command `pokernets`, without its script on the path."""

from pokernets.command import main

if __name__ == "__main__":
    main()
