"""`python -m hacheck`: the command `hacheck`, for where its script is not on the path."""

from hacheck.cli.main import main

if __name__ == "__main__":
    main()
