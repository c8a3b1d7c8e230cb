"""`python -m backsolve`, and what the command `backsolve` runs."""

from backsolve.cli.main import main

if __name__ == "__main__":
    main()
